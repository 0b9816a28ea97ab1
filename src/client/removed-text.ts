/**
 * Finds where streamed text was removed from a log (store/execution/remove-chunks.ts), and restores it as a whole.
 * Rows are passed in, in order, from the start of an execution. They come out with an additional part for each request
 * that has lost pieces of its text.
 * - The additional part takes the place and the number of the last piece; pieces behind removed ones are left out.
 * - Rows behind removed pieces are held back until the outcome of their request is read. It is always in the log:
 *   pieces are only removed after their execution has ended.
 * - No part is added for a request that was given up: the log itself says that its text is to be discarded.
 */
import type { ThreadEvent, ThreadEventOf } from '../core/event/thread-event.ts';
import type { ThreadStore } from '../store/store.ts';

/** The whole text of a request that has lost pieces of it. */
export interface RemovedPart {
  /** Number of the request's first piece; `last` is that of its last one. */
  readonly first: number;
  readonly last: number;
  /** True if some of its pieces have been returned before. */
  readonly begun: boolean;
  /** For readers that have seen some of its pieces, and must discard them. */
  readonly discarded: ThreadEventOf<'attempt.discarded'>;
  readonly text: ThreadEventOf<'model.chunk'>;
}

export type LogPart = { readonly event: ThreadEvent } | { readonly removed: RemovedPart };

type StepEnd = ThreadEventOf<'step.committed'> | ThreadEventOf<'execution.aborted'>;

interface OpenRequest {
  readonly step: number | undefined;
  readonly attempt: number;
  readonly call: number;
  first: number | null;
  last: number | null;
  begun: boolean;
}

export class RemovedText {
  readonly #store: ThreadStore;
  readonly #threadId: string;
  #seq: number;
  #request: OpenRequest | null = null;
  #held: ThreadEvent[] = [];

  /** `after`: the number of the row before the first one that will be read. */
  constructor(store: ThreadStore, threadId: string, after: number) {
    this.#store = store;
    this.#threadId = threadId;
    this.#seq = after;
  }

  /** True if pieces of a request are missing and its outcome has not been read yet. */
  get holds(): boolean {
    return this.#request?.last != null;
  }

  async read(event: ThreadEvent): Promise<readonly LogPart[]> {
    const isGap = event.seq > this.#seq + 1;
    const before = isGap ? this.#noteMissing(this.#seq + 1, event.seq - 1) : [];
    this.#seq = event.seq;
    return [...before, ...(await this.#translate(event))];
  }

  async #translate(event: ThreadEvent): Promise<readonly LogPart[]> {
    const asked = this.#request;
    switch (event.type) {
      case 'model.called': {
        const { step, attempt = 1, data } = event;
        const outgoing = this.#close();
        this.#request = { step, attempt, call: data.call, first: null, last: null, begun: false };
        return [...outgoing, { event }];
      }
      case 'model.chunk':
        if (!asked) return [{ event }];
        // A piece behind removed ones.
        if (asked.last !== null) return this.#noteMissing(event.seq, event.seq);
        asked.first ??= event.seq;
        asked.begun = true;
        return [{ event }];
      case 'step.committed':
        if (event.step !== asked?.step) return this.#passOrHold(event);
        return [...(await this.#restoreText(event, event.data.messageId)), ...this.#close(), { event }];
      case 'execution.aborted': {
        if (event.step !== asked?.step) return this.#passOrHold(event);
        const kept = event.data.keptText ? this.#held.findLast(isMessage) : undefined;
        return [
          ...(kept ? await this.#restoreText(event, kept.data.messageId) : []),
          ...this.#close(),
          { event },
        ];
      }
      // The request was given up.
      case 'attempt.discarded':
      case 'step.failed':
      case 'step.retried':
      case 'execution.ended':
        return [...this.#close(), { event }];
      default:
        return this.#passOrHold(event);
    }
  }

  /** Notes that the rows from `first` to `last` are missing, and releases those that were held back before them. */
  #noteMissing(first: number, last: number): readonly LogPart[] {
    const asked = this.#request;
    if (!asked) return [];
    asked.first ??= first;
    asked.last = last;
    return this.#release();
  }

  /** Holds the row back until the outcome of the request is known. */
  #passOrHold(event: ThreadEvent): readonly LogPart[] {
    if (!this.holds) return [{ event }];
    this.#held.push(event);
    return [];
  }

  #release(): readonly LogPart[] {
    const held = this.#held;
    this.#held = [];
    return held.map((event) => ({ event }));
  }

  #close(): readonly LogPart[] {
    this.#request = null;
    return this.#release();
  }

  async #restoreText({ at, data: { depth } }: StepEnd, messageId: string): Promise<readonly LogPart[]> {
    const asked = this.#request;
    if (!asked || asked.last === null || asked.first === null) return [];
    const message = await this.#store.messages.get(this.#threadId, messageId);
    const { step, attempt, call, first, last, begun } = asked;
    const within = depth === undefined ? {} : { depth };
    const place = { seq: last, at, ...(step === undefined ? {} : { step }), attempt };
    const discarded = {
      ...place,
      type: 'attempt.discarded',
      data: { attempt, call, reason: 'Removed', ...within },
    } as const;
    const text = {
      ...place,
      type: 'model.chunk',
      data: { delta: message?.content ?? '', call, ...within },
    } as const;
    return [{ removed: { first, last, begun, discarded, text } }];
  }
}

function isMessage(event: ThreadEvent): event is ThreadEvent & ThreadEventOf<'message.created'> {
  return event.type === 'message.created';
}
