/**
 * A backend for a box: anything that can be prompted and streams events (`remoteBox`, or a sandbox's own). Known events
 * of the box are mapped; unknown ones are passed to `onUnmapped` and never become text.
 * - Text that came in pieces and again as a whole is emitted once.
 */
import { RuntimeError } from '../../../core/value/error.ts';
import { sha256OfAscii } from '../../../core/value/sha256.ts';
import type { Box, PromptOptions } from '../box/remote-box.ts';
import { ConfigError } from '../failure.ts';
import {
  type AgentExecutionBackend,
  type BackendContext,
  type BackendEvent,
  type BackendInput,
  promptOf,
} from './backend.ts';

export interface SandboxPromptBackendOptions<Own extends Box = Box> {
  /** `sandbox` unless given. */
  readonly kind?: string;
  /** The box; required unless `getBox`, which returns one, is given. */
  readonly box?: Own;
  readonly getBox?: (input: BackendInput, context: BackendContext) => Promise<Own> | Own;
  /** Used instead of `box.streamPrompt`. */
  readonly streamPrompt?: (box: Own, message: string, options: PromptOptions) => AsyncIterable<unknown>;
  /** Used instead of the built-in mapping; returns null for an event to ignore. */
  readonly mapEvent?: (event: unknown) => BackendEvent | readonly BackendEvent[] | null;
  /** Called with each event that the mapping does not know. */
  readonly onUnmapped?: (event: unknown) => void;
}

/**
 * Throws `ConfigError` if there is neither `box` nor `getBox`. The stream throws what the box throws, and
 * `BackendFailed` with the box's message if the execution has failed there. The `turnId` is the execution's id, so the
 * same one prompts only once.
 * @example
 * ```ts
 * const box = remoteBox({ url: 'http://127.0.0.1:7777', agent: 'assistant' });
 * const backend = createSandboxPromptBackend({ box });
 * ```
 */
export function createSandboxPromptBackend<Own extends Box = Box>(
  options: SandboxPromptBackendOptions<Own>,
): AgentExecutionBackend {
  const { kind = 'sandbox', box, getBox, mapEvent, onUnmapped } = options;
  if (box === undefined && getBox === undefined)
    throw new ConfigError(`The backend "${kind}" has no box: pass "box" or "getBox".`);
  const boxFor = async (input: BackendInput, context: BackendContext) =>
    box ?? (await (getBox as NonNullable<typeof getBox>)(input, context));
  return {
    kind,
    repeatable: box?.attaches === true,
    async start(input, context = {}) {
      const { id } = await boxFor(input, context);
      return { id: id ?? input.task.id, resumeToken: id };
    },
    async *stream(input, context = {}) {
      const found = await boxFor(input, context);
      const { turnId: executionId, signal, session } = context;
      const asked = { executionId, signal, sessionId: session?.resumeToken };
      const message = promptOf(input);
      const events = options.streamPrompt
        ? options.streamPrompt(found, message, asked)
        : found.streamPrompt(message, asked);
      let text = '';
      for await (const event of events) {
        const mapped = mapEvent ? mapEvent(event) : mapBoxEvent(event, kind);
        if (mapped === undefined) onUnmapped?.(event);
        for (const each of [mapped ?? []].flat()) {
          // Only the text that is new.
          const part = isWhole(event) && each.type === 'text_delta' ? missingText(text, each) : each;
          if (part === null) continue;
          if (part.type === 'text_delta') text += part.text;
          if (part.type === 'text_discarded') text = '';
          yield part;
        }
      }
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

function isWhole(event: unknown): boolean {
  const { type } = event as Fields;
  return type === 'result' || type === 'final';
}

/** Returns what a whole text adds to the text emitted so far; null if it adds nothing. */
function missingText(text: string, event: BackendEvent & { type: 'text_delta' }): BackendEvent | null {
  if (event.text === '' || text.endsWith(event.text)) return null;
  return event.text.startsWith(text) ? { ...event, text: event.text.slice(text.length) } : event;
}

/** Null for an event to ignore, undefined for an unknown one. Throws `BackendFailed` if the execution has failed. */
export function mapBoxEvent(event: unknown, backend = 'sandbox'): BackendEvent | null | undefined {
  if (typeof event !== 'object' || event === null) return undefined;
  const { type, data, ...flat } = event as Fields;
  const of = { ...flat, ...(typeof data === 'object' && data !== null ? (data as Fields) : {}) } as Fields;
  if (typeof type !== 'string') return undefined;
  if (type === 'execution.failed')
    throw new RuntimeError(
      'BackendFailed',
      `The execution in "${backend}" has failed: ${String(of.message)}`,
    );
  if (IGNORED_TYPES.has(type)) return null;
  return Object.hasOwn(EVENT_MAPPERS, type)
    ? (EVENT_MAPPERS[type] as (of: Fields) => BackendEvent | null)(of)
    : undefined;
}

/** Ignored types: other events report the same, or it does not matter to readers of an answer. */
const IGNORED_TYPES = new Set([
  'execution.started',
  'execution.completed',
  'message.started',
  'error',
  'input.closed',
]);

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const textDelta = (of: Fields): BackendEvent | null => {
  const part = (of.part ?? {}) as Fields;
  if (part.type !== undefined && part.type !== 'text') return null;
  const found = text(of.text) || text(of.delta) || text(part.text);
  return found === '' ? null : { type: 'text_delta', text: found };
};
const toCallFields = ({ toolName, name, toolCallId, id }: Fields) => ({
  toolName: text(toolName) || text(name),
  ...(typeof (toolCallId ?? id) === 'string' ? { toolCallId: (toolCallId ?? id) as string } : {}),
});
const toProposal = (of: Fields): BackendEvent | null => {
  const proposalId = text(of.proposalId) || text(of.id);
  if (proposalId === '') return null;
  return { ...(of as object), type: 'proposal_created', proposalId, title: text(of.title) };
};

const EVENT_MAPPERS: Readonly<Record<string, (of: Fields) => BackendEvent | null>> = {
  'message.part.updated': textDelta,
  text_delta: textDelta,
  delta: textDelta,
  reasoning_delta: (of) => ({ type: 'reasoning_delta', text: text(of.text) || text(of.delta) }),
  'message.discarded': ({ reason }) => ({ type: 'text_discarded', reason: text(reason) }),
  tool_call: (of) => ({ type: 'tool_call', ...toCallFields(of), args: of.args }),
  tool_result: (of) => ({ type: 'tool_result', ...toCallFields(of), result: of.result }),
  llm_call: (of) => ({ ...(of as object), type: 'llm_call', model: text(of.model) }),
  'model.fallback': ({ fromModel, toModel, reason }) => ({
    type: 'model_fallback',
    fromModel: text(fromModel),
    toModel: text(toModel),
    reason: text(reason),
  }),
  artifact: (of) =>
    text(of.artifactId) === ''
      ? null
      : { ...(of as object), type: 'artifact', artifactId: text(of.artifactId) },
  proposal_created: toProposal,
  proposal: toProposal,
  filing: toProposal,
  result: (of) => textDelta({ text: of.finalText ?? of.text }),
  final: (of) => textDelta({ text: of.finalText ?? of.text }),
};

/** Derives the id of a prompt from its content, so that equal prompts have equal ids: for callers that have no id. */
export function promptId(scope: string, asked: unknown): string {
  const ascii = JSON.stringify([scope, asked]).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `prompt-${sha256OfAscii(ascii).slice(0, 40)}`;
}
