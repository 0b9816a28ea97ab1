/**
 * Folds the chunks of an answer into one response (definitions §5.3, §5.4).
 * - A call is built from its `tool-call-start` and its deltas; fields of its `tool-call-done` override them. A call
 *   without a `tool-call-done` counts as complete when the answer is finished.
 * - Nothing is lost from chunks of kinds that the contract defines; of other kinds only the names are kept.
 */
import {
  type ExecutedProviderTool,
  ProviderError,
  type ProviderResponse,
  type ProviderStreamChunk,
} from '../core/message/provider.ts';
import type { ProviderImage, ProviderToolCall } from '../core/message/provider-terms.ts';
import { errorMessage } from '../core/value/thrown.ts';
import { answerJson, invalidAnswer } from './answer-failure.ts';
import { parseToolCall } from './tool-arguments.ts';

export interface Accumulator {
  /** Throws the ProviderError of an `error` chunk. */
  add(chunk: ProviderStreamChunk): void;
  /** Notes the kind of a chunk that the contract does not define. */
  ignore(kind: string): void;
  /** Throws 'server_error' when no `finish` chunk arrived: the answer may be cut off. */
  response(): ProviderResponse;
  /** Kinds of chunks that are not part of the response, each once. */
  readonly ignored: readonly string[];
}

interface OpenCall {
  readonly id: string;
  name?: string;
  /** The JSON text of its arguments. */
  text: string;
  extraContent?: unknown;
  isDone: boolean;
}

/** Bounds on the names of unknown chunk kinds, which providers choose: how many are kept, and their length. */
const IGNORED_KINDS = 16;
const KIND_CHARS = 64;

export function createAccumulator(): Accumulator {
  let content: string | null = null;
  let reasoning: string | null = null;
  let finish: Extract<ProviderStreamChunk, { type: 'finish' }> | undefined;
  const calls = createCalls();
  const images: ProviderImage[] = [];
  const providerTools: ExecutedProviderTool[] = [];
  const ignored = new Set<string>();

  function add(chunk: ProviderStreamChunk): void {
    if (chunk.type === 'content-delta') content = (content ?? '') + chunk.delta;
    else if (chunk.type === 'reasoning-delta') reasoning = (reasoning ?? '') + chunk.delta;
    else if (chunk.type === 'image-done') images.push(chunk.image);
    else if (chunk.type === 'provider-tool-done') providerTools.push(chunk.tool);
    else if (chunk.type === 'web-search-done')
      providerTools.push(toSearch(chunk.result, providerTools.length));
    else if (chunk.type === 'finish') finish = chunk;
    else if (chunk.type === 'error')
      throw new ProviderError(errorMessage(chunk.error), chunk.code ?? 'unknown');
    else calls.add(chunk);
  }

  function ignore(kind: string): void {
    if (ignored.size < IGNORED_KINDS) ignored.add(kind.slice(0, KIND_CHARS));
  }

  function response(): ProviderResponse {
    if (finish === undefined) {
      throw new ProviderError('The stream ended early; the answer is cut off.', 'server_error');
    }
    const { finishReason, usage, responseId, reasoningDetails, parts } = finish;
    const toolCalls = calls.all();
    return {
      content,
      ...(reasoning === null ? {} : { reasoning }),
      ...(reasoningDetails === undefined ? {} : { reasoningDetails }),
      ...(parts === undefined ? {} : { parts }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(images.length === 0 ? {} : { images }),
      ...(providerTools.length === 0 ? {} : { providerTools }),
      finishReason,
      usage,
      ...(responseId === undefined ? {} : { responseId }),
    };
  }

  return {
    add,
    ignore,
    response,
    get ignored() {
      return [...ignored];
    },
  };
}

/** Assembles the calls, in the order in which they began. */
function createCalls() {
  const calls: OpenCall[] = [];

  const openCall = (id: string) => calls.find((call) => call.id === id && !call.isDone);

  function open(id: string): OpenCall {
    const known = openCall(id);
    if (known !== undefined) return known;
    const call: OpenCall = { id, text: '', isDone: false };
    calls.push(call);
    return call;
  }

  function add(chunk: ProviderStreamChunk): void {
    if (chunk.type === 'tool-call-start') {
      Object.assign(open(chunk.id), { name: chunk.name, extraContent: chunk.extraContent });
    } else if (chunk.type === 'tool-call-delta') {
      const call = openCall(chunk.id);
      if (call === undefined)
        throw invalidAnswer(`The provider continued a tool call that it had not begun, "${chunk.id}"`);
      call.text += chunk.argumentsDelta;
    } else if (chunk.type === 'tool-call-done') {
      const call = open(chunk.id);
      call.isDone = true;
      call.name = chunk.name ?? call.name;
      call.extraContent = chunk.extraContent ?? call.extraContent;
      if (chunk.arguments !== undefined) call.text = toText(chunk.arguments);
    }
  }

  return { add, all: () => calls.map(toCall) };
}

function toCall({ id, name, text, extraContent }: OpenCall): ProviderToolCall {
  if (name === undefined) {
    throw invalidAnswer(`The provider answered with a tool call that names no tool, "${id}"`);
  }
  const call = parseToolCall(id, name, text);
  return extraContent === undefined ? call : { ...call, extraContent };
}

function toText(given: string | object): string {
  return typeof given === 'string' ? given : answerJson(given, 'arguments of a tool call');
}

function toSearch(result: unknown, index: number): ExecutedProviderTool {
  const name = 'web_search';
  return { id: `${name}_${index}`, name, type: name, provider: '', status: 'completed', result };
}
