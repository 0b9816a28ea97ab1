/**
 * A model that follows a script: the only test double of the test kit (definitions §5.7). Reached through the provider
 * port itself, or over HTTP as an OpenAI-compatible server that consumes the same script.
 *
 * - A step is consumed when its request arrives, so concurrent requests never share one.
 * - A script that runs out rejects the request, and one with unused steps fails `assertConsumed`: both are mistakes of a test.
 * - Ids of tool calls are reproducible: a list of steps counts them over its life; a function derives them from the
 *   number of messages in the request, so that a second process answers the same request with the same ids.
 */
import {
  type Provider,
  ProviderError,
  type ProviderFactory,
  type ProviderRequest,
  type ProviderStreamChunk,
} from '../core/message/provider.ts';
import { createAccumulator } from '../models/accumulate.ts';
import { NO_SLOTS } from '../models/provider-config.ts';
import type { RecordedRequest, ScriptFunction, ScriptStep } from './script.ts';
import { type PlayedStep, playStep } from './script-player.ts';
import { type ScriptedConnection, type ScriptedServer, serveScript } from './scripted-server.ts';

/** Steps in order, one per request; or one function for all requests, which keeps no state and never runs out. */
export type Script = readonly (ScriptStep | ScriptFunction)[] | ScriptFunction;

export interface ScriptedModelOptions {
  /** Name of the provider, and the model id that the server lists. Default `scripted`. */
  readonly name?: string;
}

export interface ScriptedModel {
  /** For `defineModel({ provider })`. */
  readonly provider: ProviderFactory;
  /** Every request so far, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Every request to a server of `serve`, with the times of its connection. */
  readonly connections: readonly ScriptedConnection[];
  /** Steps that no request has consumed; 0 for a function. */
  readonly remaining: number;
  /** Throws if steps are left. */
  assertConsumed(): void;
  /** Serves the script on 127.0.0.1, by default on a free port. */
  serve(options?: { readonly port?: number }): Promise<ScriptedServer>;
}

/**
 * A model that answers as `script` says. See `script.ts` for the steps: `says`, `calls`, `fails`, `hangs` and others.
 * @example
 * ```ts
 * const model = scriptedModel([calls('refund', { order: '4711' }), says('Done.')]);
 * export default defineModel({ name: 'main', provider: model.provider, model: 'scripted' });
 * ```
 */
export function scriptedModel(
  script: Script,
  { name = 'scripted' }: ScriptedModelOptions = {},
): ScriptedModel {
  const requests: RecordedRequest[] = [];
  const connections: ScriptedConnection[] = [];
  const next = createCursor(script, requests);

  const start = async (request: ProviderRequest) => {
    const signal = request.signal ?? new AbortController().signal;
    const settled = await next(request);
    return { responseId: settled.responseId, chunks: playStep({ ...settled, signal }) };
  };
  const provider = toProvider(name, start);
  const factory = Object.defineProperty(() => provider, 'name', { value: name });
  const remaining = () => (typeof script === 'function' ? 0 : Math.max(0, script.length - requests.length));
  return {
    provider: Object.assign(factory, { configSlots: NO_SLOTS }),
    requests,
    connections,
    get remaining() {
      return remaining();
    },
    assertConsumed() {
      if (remaining() === 0) return;
      throw new Error(
        `The script was not used up: ${remaining()} of its ${script.length} steps are left after ` +
          `${requests.length} requests. Remove them, or find out why the model was not called.`,
      );
    },
    serve: ({ port = 0 } = {}) => serveScript({ start, connections, modelId: name, port }),
  };
}

type Start = (request: ProviderRequest) => Promise<{ readonly chunks: AsyncIterable<ProviderStreamChunk> }>;

function toProvider(name: string, start: Start): Provider {
  return {
    name,
    specificationVersion: '1',
    stream: async (request) => (await start(request)).chunks,
    generate: async (request) => {
      const accumulator = createAccumulator();
      for await (const chunk of (await start(request)).chunks) accumulator.add(chunk);
      return accumulator.response();
    },
  };
}

type Cursor = (request: ProviderRequest) => Promise<Omit<PlayedStep, 'signal'>>;

/** Records a request, consumes its step, and determines everything about the answer except its timing. */
function createCursor(script: Script, requests: RecordedRequest[]): Cursor {
  let calls = 0;
  const countedId = () => {
    calls += 1;
    return `call_${calls}`;
  };
  return async (request) => {
    const index = requests.length;
    const recorded = record(request);
    requests.push(recorded);
    const entry = typeof script === 'function' ? script : script[index];
    if (entry === undefined) throw scriptRanOut(script.length, index + 1);
    const step = typeof entry === 'function' ? await entry(recorded, index) : entry;
    const stateless = typeof script === 'function';
    const derivedId = (position: number) => `call_${recorded.messages.length}_${position + 1}`;
    return {
      step,
      request: recorded,
      responseId: `scripted-${stateless ? recorded.messages.length : index + 1}`,
      callId: stateless ? derivedId : countedId,
    };
  };
}

function scriptRanOut(steps: number, request: number): ProviderError {
  return new ProviderError(
    `The script ran out: it has ${steps} ${steps === 1 ? 'step' : 'steps'}, and this is request ${request}. ` +
      'Add a step, or find out why the model was called again.',
    'invalid_request',
    400,
  );
}

function record({ signal: _signal, ...request }: ProviderRequest): RecordedRequest {
  return deepFreeze(JSON.parse(JSON.stringify(request)) as RecordedRequest);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
