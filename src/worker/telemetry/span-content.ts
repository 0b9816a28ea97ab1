/**
 * The content of spans, which is given out only if `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` says so: read from the store when a
 * span is given, in the shapes of the conventions. Texts are redacted and cut; of a long conversation, the newest messages are given.
 */
import type { Message } from '../../core/message/message.ts';
import type { ProviderMessage } from '../../core/message/provider.ts';
import type { ProviderToolCall } from '../../core/message/provider-terms.ts';
import { toProviderCall } from '../../core/message/tool-call.ts';
import { isRecord } from '../../core/value/record.ts';
import { callsOf } from '../../projections/row-message.ts';
import { RedactionPolicy } from '../../projections/run/run-redaction.ts';
import { GEN_AI, type SpanAttributes } from '../../projections/trace/conventions.ts';
import type { SpanContent } from '../../projections/trace/trace-state.ts';
import type { ThreadStore } from '../../store/store.ts';

/** Characters of one text, and of all messages of one span as JSON. */
const MAX_TEXT = 4_000;
const MAX_MESSAGES = 64_000;
const ON = ['true', 'span_only', 'span_and_event'];

type Part = Readonly<Record<string, unknown>>;
interface ChatMessage {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

export type ReadContent = (content: SpanContent) => Promise<SpanAttributes>;

/** Undefined unless content is captured. */
export function createContentReader(
  store: Pick<ThreadStore, 'messages' | 'modelCalls'>,
  setting: string | undefined,
): ReadContent | undefined {
  if (!ON.includes((setting ?? '').trim().toLowerCase())) return undefined;
  const policy = new RedactionPolicy({ maxStringLength: MAX_TEXT });
  const toText = (value: unknown) => JSON.stringify(policy.redact(value));
  const find = async (threadId: string, id: string | undefined) =>
    id === undefined ? null : store.messages.get(threadId, id);

  async function ofRequest({ threadId, request = '', answer, finishReason }: SpanContent) {
    // Not kept, or removed since.
    const sent = await store.modelCalls.readRequest(threadId, request).catch(() => undefined);
    const messages = (sent?.request.messages ?? []) as readonly ProviderMessage[];
    const system = messages.filter(({ role }) => role === 'system');
    const others = messages.filter(({ role }) => role !== 'system').map(toMessage);
    const answered = await find(threadId, answer);
    return {
      ...(system.length > 0 ? { [GEN_AI.systemInstructions]: toText(system.flatMap(partsOf)) } : {}),
      ...(others.length > 0 ? { [GEN_AI.inputMessages]: newest(others.map(toText)) } : {}),
      ...(answered ? { [GEN_AI.outputMessages]: toText([toAnswer(answered, finishReason)]) } : {}),
    };
  }

  async function ofCall({ threadId, callId, asked, answer }: SpanContent) {
    const call = callsOf(await find(threadId, asked)).find(({ id }) => id === callId);
    const result = await find(threadId, answer);
    return {
      ...(call ? { [GEN_AI.toolArguments]: toText(parse(call.function.arguments)) } : {}),
      ...(result ? { [GEN_AI.toolResult]: toText(parse(result.content ?? '')) } : {}),
    };
  }

  return (content) => (content.request === undefined ? ofCall(content) : ofRequest(content));
}

/** A list of JSON: as many of the last texts as fit. */
function newest(texts: readonly string[]): string {
  let length = 0;
  const fitting = texts.findLastIndex((text) => {
    length += text.length + 1;
    return length > MAX_MESSAGES;
  });
  return `[${texts.slice(fitting + 1).join(',')}]`;
}

function toMessage(message: ProviderMessage): ChatMessage {
  return { role: message.role, parts: partsOf(message) };
}

function partsOf(message: ProviderMessage): readonly Part[] {
  if (message.role === 'tool')
    return [{ type: 'tool_call_response', id: message.toolCallId, response: message.content }];
  const { content } = message;
  const said = typeof content === 'string' ? [textPart(content)] : (content ?? []).map(toPart);
  if (message.role !== 'assistant') return said;
  return [...said, ...(message.toolCalls ?? []).map(toCall)];
}

const textPart = (content: string): Part => ({ type: 'text', content });

/** Files are named by their kind alone. */
function toPart(part: unknown): Part {
  if (!isRecord(part)) return textPart('');
  return part.type === 'text' ? textPart(String(part.text ?? '')) : { type: part.type };
}

const toCall = ({
  id,
  name,
  arguments: given,
}: Pick<ProviderToolCall, 'id' | 'name' | 'arguments'>): Part => ({
  type: 'tool_call',
  id,
  name,
  arguments: given,
});

function toAnswer(message: Message, finishReason = 'stop'): ChatMessage {
  const said = message.content ? [textPart(message.content)] : [];
  return {
    role: 'assistant',
    parts: [...said, ...callsOf(message).map((call) => toCall(toProviderCall(call)))],
    finish_reason: finishReason === 'tool_calls' ? 'tool_call' : finishReason,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
