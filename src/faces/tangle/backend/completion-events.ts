/**
 * Converts streamed chat completions to a backend's events. Calls are assembled from their pieces, OpenAI's by index
 * and Anthropic's by block. Each is emitted once, even if the stream ends in the middle of it; nothing is executed.
 */
import { errorMessage } from '../../../core/value/thrown.ts';
import { BackendTransportError } from '../failure.ts';
import type { BackendEvent } from './backend.ts';

interface OpenCall {
  id: string | undefined;
  name: string;
  text: string;
}

type Fields = Readonly<Record<string, unknown>>;

export interface CompletionReading {
  /** The requested model; it is reported unless the answer names another. */
  readonly model: string;
  readonly backend: string;
  readonly startedAt: number;
}

export async function* completionEvents(
  data: AsyncIterable<string>,
  { model: asked, backend, startedAt }: CompletionReading,
): AsyncGenerator<BackendEvent> {
  const calls = new Map<number, OpenCall>();
  const found: { usage?: Fields; model: string; finish?: string } = { model: asked };
  for await (const text of data) {
    const chunk = parseChunk(text, backend);
    if (typeof chunk.model === 'string' && chunk.model !== '') found.model = chunk.model;
    found.usage = fields(chunk.usage) ?? fields(fields(chunk.message)?.usage) ?? found.usage;
    const [choice] = Array.isArray(chunk.choices) ? (chunk.choices as Fields[]) : [];
    if (choice) {
      if (typeof choice.finish_reason === 'string') found.finish = choice.finish_reason;
      yield* messageEvents(fields(choice.delta) ?? fields(choice.message) ?? {}, calls);
      if (found.finish !== undefined) yield* flushCalls(calls);
    } else yield* blockEvents(chunk, calls);
    const error = fields(chunk.error);
    if (error) throw streamError(backend, `it ended with an error: ${errorMessage(error)}`);
  }
  yield* flushCalls(calls);
  if (found.usage)
    yield {
      type: 'llm_call',
      model: found.model,
      ...tokens(found.usage),
      latencyMs: Math.round(performance.now() - startedAt),
      ...(found.finish === undefined ? {} : { finishReason: found.finish }),
    };
}

function* messageEvents(delta: Fields, calls: Map<number, OpenCall>): Generator<BackendEvent> {
  const { content, reasoning_content: thought, reasoning, tool_calls: pieces } = delta;
  const thinks = thought ?? reasoning;
  if (typeof thinks === 'string' && thinks !== '') yield { type: 'reasoning_delta', text: thinks };
  if (typeof content === 'string' && content !== '') yield { type: 'text_delta', text: content };
  for (const [n, piece] of (Array.isArray(pieces) ? (pieces as Fields[]) : []).entries()) {
    const at = typeof piece.index === 'number' ? piece.index : n;
    const { name, arguments: args } = fields(piece.function) ?? {};
    const call = calls.get(at) ?? { id: undefined, name: '', text: '' };
    calls.set(at, call);
    if (typeof piece.id === 'string' && piece.id !== '') call.id = piece.id;
    if (typeof name === 'string') call.name += name;
    call.text += typeof args === 'string' ? args : args == null ? '' : JSON.stringify(args);
  }
}

/** Anthropic's own events, as some routers pass them on. */
function* blockEvents(chunk: Fields, calls: Map<number, OpenCall>): Generator<BackendEvent> {
  const at = typeof chunk.index === 'number' ? chunk.index : 0;
  const delta = fields(chunk.delta) ?? {};
  const block = fields(chunk.content_block);
  if (chunk.type === 'content_block_start' && block?.type === 'tool_use') {
    const input = fields(block.input);
    const text = input && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
    calls.set(at, { id: textOf(block.id), name: textOf(block.name) ?? '', text });
  } else if (chunk.type === 'content_block_delta') {
    if (typeof delta.text === 'string') yield { type: 'text_delta', text: delta.text };
    if (typeof delta.thinking === 'string') yield { type: 'reasoning_delta', text: delta.thinking };
    const call = calls.get(at);
    if (call && typeof delta.partial_json === 'string') call.text += delta.partial_json;
  } else if (chunk.type === 'content_block_stop') {
    const call = calls.get(at);
    calls.delete(at);
    if (call) yield toEvent(call);
  }
}

function* flushCalls(calls: Map<number, OpenCall>): Generator<BackendEvent> {
  const open = [...calls].toSorted(([one], [other]) => one - other);
  calls.clear();
  for (const [, call] of open) yield toEvent(call);
}

function toEvent({ id, name, text }: OpenCall): BackendEvent {
  return {
    type: 'tool_call',
    toolName: name,
    ...(id === undefined ? {} : { toolCallId: id }),
    args: parseArguments(text),
  };
}

function parseArguments(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function tokens(usage: Fields): { tokensIn?: number; tokensOut?: number } {
  const of = (...names: string[]) => names.map((name) => usage[name]).find((n) => typeof n === 'number');
  const tokensIn = of('prompt_tokens', 'input_tokens') as number | undefined;
  const tokensOut = of('completion_tokens', 'output_tokens') as number | undefined;
  return {
    ...(tokensIn === undefined ? {} : { tokensIn }),
    ...(tokensOut === undefined ? {} : { tokensOut }),
  };
}

function parseChunk(text: string, backend: string): Fields {
  try {
    const value = fields(JSON.parse(text));
    if (value) return value;
  } catch {
    // Told below: nobody's text.
  }
  throw streamError(backend, `it sent invalid JSON: ${text.slice(0, 200)}`);
}

function streamError(backend: string, why: string): BackendTransportError {
  return new BackendTransportError(`The stream of the backend "${backend}" cannot be read: ${why}`, {
    backend,
    status: 200,
  });
}

function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
