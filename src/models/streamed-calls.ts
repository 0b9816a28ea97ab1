/**
 * Puts the calls of a streamed answer together from their pieces. Pure.
 * - The index says to which call a piece belongs, unless the piece begins another one: Gemini and gateways have all calls
 *   at index 0. A piece with a name begins a call if its id is another than the open call's, or, without ids, if one
 *   object of arguments follows another. Names and ids that are only repeated begin none.
 * - Each call has an id of its own, since chunks of the provider port are told apart by it.
 */
import type { ProviderStreamChunk } from '../core/message/provider.ts';
import type { CallFields } from './openai-message.ts';

interface OpenCall {
  /** As the server gave it; empty if it has given none. */
  readonly givenId: string;
  readonly id: string;
  name: string;
  readonly extraContent?: unknown;
  text: string;
}

export interface StreamedCalls {
  readonly count: number;
  /** `responseId`: for the ids of calls that have none. */
  add(piece: CallFields, responseId: string | undefined): Generator<ProviderStreamChunk>;
  end(): Generator<ProviderStreamChunk>;
}

export function collectCalls(): StreamedCalls {
  const calls: OpenCall[] = [];
  const byIndex = new Map<number, OpenCall>();

  /** Some servers omit the index; then an id names the call, and what has none belongs to the last one. */
  function openCall({ index, id, name }: CallFields): OpenCall | undefined {
    if (index !== undefined) return byIndex.get(index);
    const named = id === '' ? undefined : calls.find((call) => call.givenId === id);
    return named ?? (name === '' ? calls.at(-1) : undefined);
  }

  function begin({ index, id: givenId, name, ...piece }: CallFields, responseId = 'call'): OpenCall {
    // An id of its own.
    const isOwn = givenId !== '' && !calls.some(({ id }) => id === givenId);
    const id = isOwn ? givenId : `${givenId || responseId}_${calls.length}`;
    const { extraContent } = piece;
    const call = { givenId, id, name, ...(extraContent === undefined ? {} : { extraContent }), text: '' };
    calls.push(call);
    if (index !== undefined) byIndex.set(index, call);
    return call;
  }

  return {
    get count() {
      return calls.length;
    },
    *add(piece, responseId) {
      const open = openCall(piece);
      const call = open && !beginsAnother(piece, open) ? open : begin(piece, responseId);
      if (call !== open) {
        const { givenId: _, text: _none, ...started } = call;
        yield { type: 'tool-call-start', ...started };
      }
      // Some servers send the name after the first piece; the call's `tool-call-done` contains it.
      call.name ||= piece.name;
      if (piece.text === '') return;
      call.text += piece.text;
      yield { type: 'tool-call-delta', id: call.id, argumentsDelta: piece.text };
    },
    *end() {
      for (const { givenId: _, text, ...call } of calls)
        yield { type: 'tool-call-done', ...call, arguments: text };
    },
  };
}

/** What begins a call at the index of another one. */
function beginsAnother({ id, name, text }: CallFields, open: OpenCall): boolean {
  if (name === '' || open.name === '') return false;
  if (id !== '' && open.givenId !== '') return id !== open.givenId;
  return open.text.endsWith('}') && text.startsWith('{');
}
