/**
 * Turns a thread's event log into what people want to see of it: text as it streams, tool calls, results, status.
 * - Text is shown once. A `restart` retracts text that the log declares discarded; in older logs, also text streamed
 *   by an attempt or model call that another one followed.
 * - The committed message is authoritative: whatever chunks were missed or pruned, `end` shows the message's text.
 * - Reads only messages whose ids are in the events, so it works on finished and on growing logs alike.
 * - Messages of a sub-prompt are not shown, only its call and its result.
 * - What keeps an answer from coming is told in the sentences of the thread's story.
 */

import type { Side } from '../../core/author/thread-execution.ts';
import type { EventData, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { Message, ToolCall, ToolStatus } from '../../core/message/message.ts';
import type { StoredError, ThreadStatus } from '../../core/thread/step.ts';
import { projectStory } from '../../projections/story/story-projection.ts';
import type { StoryRow } from '../../projections/story/story-row.ts';
import { BEGUN_STORY } from '../../projections/story/story-state.ts';

export type AnswerPart = { readonly at: number } & (
  | { readonly kind: 'text'; readonly delta: string; readonly side: Side }
  | { readonly kind: 'restart' }
  | { readonly kind: 'end'; readonly stopped: boolean }
  | {
      readonly kind: 'message';
      readonly role: Message['role'];
      readonly content: string;
      readonly silent: boolean;
    }
  | { readonly kind: 'tool_call'; readonly name: string; readonly arguments: string }
  | {
      readonly kind: 'tool_result';
      readonly name: string;
      readonly status: ToolStatus;
      readonly content: string;
    }
  | { readonly kind: 'trouble'; readonly text: string }
  | {
      readonly kind: 'status';
      readonly status: ThreadStatus;
      readonly reason: string | null;
      readonly error: StoredError | null;
    }
);

type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> : never;
type Part = WithoutTime<AnswerPart>;

export type GetMessage = (id: string) => Promise<Message | null>;

export class AnswerStream {
  readonly #getMessage: GetMessage;
  /** Arguments of calls, by call id, from the messages that made them. */
  readonly #arguments = new Map<string, string>();
  /** The text being streamed, and its side. */
  #text = '';
  #source = { step: 0, attempt: 0, call: 0 };
  #story = BEGUN_STORY;
  /** The side that makes the step, if there are two AI sides. */
  #side: Side = 'a';
  /** A message whose event has been read; the next event determines how it is shown. */
  #held: { id: string; role: string } | undefined;

  constructor(getMessage: GetMessage) {
    this.#getMessage = getMessage;
  }

  /** Takes events in order, each once. */
  async read(event: ThreadEvent): Promise<AnswerPart[]> {
    const [story, told] = projectStory(this.#story, { event });
    this.#story = story;
    if ('depth' in event.data && Number(event.data.depth) > 0) return [];
    const held = this.#held;
    this.#held = undefined;
    const before = held && !belongsToHeld(event, held) ? await this.#toMessage(held.id) : [];
    const parts = [...before, ...(await this.#translate(event, told, held?.id))];
    return parts.map((part) => ({ at: event.at, ...part }) as AnswerPart);
  }

  async #translate(
    event: ThreadEvent,
    told: readonly StoryRow[],
    heldId: string | undefined,
  ): Promise<Part[]> {
    switch (event.type) {
      case 'message.created':
        return this.#hold(event);
      case 'step.started':
        this.#side = event.data.side === 'b' ? 'b' : 'a';
        return [];
      case 'model.chunk':
        return this.#addChunk(event);
      case 'step.committed':
        return this.#complete(await this.#loadMessage(event.data.messageId), false);
      case 'execution.aborted':
        return this.#complete(event.data.keptText && heldId ? await this.#loadMessage(heldId) : null, true);
      case 'step.failed':
        return this.#text === '' ? [] : this.#complete(null, true);
      case 'tool.called': {
        const { name, callId } = event.data;
        return [{ kind: 'tool_call', name, arguments: this.#arguments.get(callId) ?? '{}' }];
      }
      case 'tool.result':
      case 'tool.unknown': {
        const message = heldId ? await this.#getMessage(heldId) : null;
        const { name, status } = event.data;
        return [{ kind: 'tool_result', name, status, content: message?.content ?? '' }];
      }
      case 'attempt.discarded':
        return this.#discard(event.data);
      case 'model.waiting':
      case 'model.failed':
      case 'model.held':
      case 'step.retried':
      case 'wait.opened':
      case 'item.rejected':
      case 'output.rejected':
        return told.map(({ line: text }) => ({ kind: 'trouble', text }));
      case 'thread.status': {
        const { status, reason = null, error = null } = event.data;
        return [{ kind: 'status', status, reason, error }];
      }
      default:
        return [];
    }
  }

  /** A step's message may have the role `user`: side B's messages are stored with it. */
  #hold({ step, data }: ThreadEventOf<'message.created'>): Part[] | Promise<Part[]> {
    const { messageId: id, role } = data;
    if (step === undefined && (role === 'user' || role === 'system')) return this.#toMessage(id);
    this.#held = { id, role };
    return [];
  }

  /** Late chunks of an abandoned attempt or call are ignored. */
  #addChunk({ step = 0, attempt = 1, data }: ThreadEventOf<'model.chunk'>): Part[] {
    const { delta, call } = data;
    const age = step - this.#source.step || attempt - this.#source.attempt || call - this.#source.call;
    if (age < 0 || delta === '') return [];
    const parts: Part[] = age > 0 && this.#text !== '' ? [{ kind: 'restart' }] : [];
    if (age > 0) this.#text = '';
    this.#source = { step, attempt, call };
    this.#text += delta;
    return [...parts, this.#toText(delta)];
  }

  /** Retracts the streamed text; any further text comes from another request. */
  #discard({ attempt, call }: EventData['attempt.discarded']): Part[] {
    if (this.#text === '' || attempt !== this.#source.attempt || call !== this.#source.call) return [];
    this.#text = '';
    return [{ kind: 'restart' }];
  }

  /** Shows the rest of the message. */
  #complete(message: Message | null, stopped: boolean): Part[] {
    const shown = this.#text;
    const content = message?.content ?? shown;
    this.#text = '';
    if (content === '' && shown === '') return [];
    const end: Part = { kind: 'end', stopped };
    if (content === shown) return [end];
    if (content.startsWith(shown)) return [this.#toText(content.slice(shown.length)), end];
    return [{ kind: 'restart' }, this.#toText(content), end];
  }

  #toText(delta: string): Part {
    return { kind: 'text', delta, side: this.#side };
  }

  async #toMessage(id: string): Promise<Part[]> {
    const message = await this.#loadMessage(id);
    if (!message?.content || message.role === 'tool') return [];
    return [{ kind: 'message', role: message.role, content: message.content, silent: message.silent }];
  }

  async #loadMessage(id: string): Promise<Message | null> {
    const message = await this.#getMessage(id);
    const calls = message?.tool_calls ? (JSON.parse(message.tool_calls) as ToolCall[]) : [];
    for (const call of calls) this.#arguments.set(call.id, call.function.arguments);
    return message;
  }
}

/**
 * True if `event`, which follows the message in the same transaction, shows that it belongs to a step, a stop or a
 * tool.
 */
function belongsToHeld({ type, data }: ThreadEvent, held: { id: string; role: string }): boolean {
  if (held.role === 'tool') return true;
  return type === 'execution.aborted' ? data.keptText : 'messageId' in data && data.messageId === held.id;
}
