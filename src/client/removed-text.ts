/**
 * Finds where streamed text was removed from a log (store/commands/run/remove-chunks.ts), and what it came to: rows go in, in order and from the start
 * of an execution on, and come out with a part more for each request whose pieces are not all there.
 * G1. The part stands where the last of the pieces stood, under its number; pieces that are still there are left out.
 * G2. What was removed belongs to an execution that has ended, so the row that says what became of the request is always there: until it comes,
 *     what lies between is held back.
 * G3. Of a request that was given up nothing is told: the log says itself that it is to be forgotten.
 */
import type { ThreadEvent, ThreadEventOf } from '../core/event/thread-event.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';

/** A request's whole text. */
export interface RemovedPart {
  /** The numbers of its first piece, and of its last. */
  readonly first: number;
  readonly last: number;
  /** Some of its pieces have come out before. */
  readonly begun: boolean;
  /** For whoever has seen some of its pieces: they are to be forgotten. */
  readonly discarded: ThreadEventOf<'attempt.discarded'>;
  readonly text: ThreadEventOf<'model.chunk'>;
}

export type LogPart = { readonly event: ThreadEvent } | { readonly removed: RemovedPart };

type StepEnd = ThreadEventOf<'step.committed'> | ThreadEventOf<'execution.aborted'>;

interface Asked {
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
  #asked: Asked | null = null;
  #held: ThreadEvent[] = [];

  /** `after`: the number of the row before the first one that will be read. */
  constructor(store: ThreadStore, threadId: string, after: number) {
    this.#store = store;
    this.#threadId = threadId;
    this.#seq = after;
  }

  /** A request's pieces lack, and what became of it is not read yet. */
  get holds(): boolean {
    return this.#asked?.last != null;
  }

  async read(event: ThreadEvent): Promise<readonly LogPart[]> {
    const isGap = event.seq > this.#seq + 1;
    const before = isGap ? this.#lack(this.#seq + 1, event.seq - 1) : [];
    this.#seq = event.seq;
    return [...before, ...(await this.#translate(event))];
  }

  async #translate(event: ThreadEvent): Promise<readonly LogPart[]> {
    const asked = this.#asked;
    switch (event.type) {
      case 'model.called': {
        const { step, attempt = 1, data } = event;
        const told = this.#close();
        this.#asked = { step, attempt, call: data.call, first: null, last: null, begun: false };
        return [...told, { event }];
      }
      case 'model.chunk':
        if (!asked) return [{ event }];
        // G1: beside what was removed.
        if (asked.last !== null) return this.#lack(event.seq, event.seq);
        asked.first ??= event.seq;
        asked.begun = true;
        return [{ event }];
      case 'step.committed':
        if (event.step !== asked?.step) return this.#pass(event);
        return [...(await this.#tell(event, event.data.messageId)), ...this.#close(), { event }];
      case 'execution.aborted': {
        if (event.step !== asked?.step) return this.#pass(event);
        const kept = event.data.keptText ? this.#held.findLast(isMessage) : undefined;
        return [...(kept ? await this.#tell(event, kept.data.messageId) : []), ...this.#close(), { event }];
      }
      // G3: nobody goes on with it.
      case 'attempt.discarded':
      case 'step.failed':
      case 'step.retried':
      case 'execution.ended':
        return [...this.#close(), { event }];
      default:
        return this.#pass(event);
    }
  }

  /** Rows from one number to another are not there: what was held back lies before them. */
  #lack(first: number, last: number): readonly LogPart[] {
    const asked = this.#asked;
    if (!asked) return [];
    asked.first ??= first;
    asked.last = last;
    return this.#release();
  }

  /** G2: held back until it is known what became of the request. */
  #pass(event: ThreadEvent): readonly LogPart[] {
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
    this.#asked = null;
    return this.#release();
  }

  async #tell({ at, data: { depth } }: StepEnd, messageId: string): Promise<readonly LogPart[]> {
    const asked = this.#asked;
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
