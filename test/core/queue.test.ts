/** The queue as the workflow holds it (runtime §9): first in, first out over three places. */
import { describe, expect, it } from '@jest/globals';
import type { IncomingItem, QueueItem } from '../../src/core/thread/item.ts';
import { ThreadQueue } from '../../src/core/thread/queue.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { SEEDS, seededRandom } from '../support/seeded-random.ts';

const message = (id: string | undefined, content = 'x'): IncomingItem => ({
  kind: 'message',
  ...(id === undefined ? {} : { id }),
  role: 'user',
  content,
});

const ids = (items: readonly QueueItem[]): string[] => items.map(({ id }) => id);

describe('the queue', () => {
  it('[runtime 9] returns items in order of arrival', () => {
    const queue = new ThreadQueue('run');
    for (const id of ['a', 'b', 'c']) queue.accept(message(id));
    expect(ids(queue.take())).toEqual(['a', 'b', 'c']);
  });

  it('names an item without an id by the first run and its position', () => {
    const queue = new ThreadQueue('first-run');
    expect(queue.accept(message(undefined))).toEqual({ id: 'first-run:0', duplicate: false });
    queue.accept(message('mine'));
    expect(queue.accept(message(undefined)).id).toBe('first-run:2');
  });

  it('gives replayed arrivals the same ids, and continues counting in the next run', () => {
    const arrivals = [
      message(undefined),
      message('a'),
      message('a'),
      message(undefined),
      message(undefined, 'y'),
    ];
    const replayed = [new ThreadQueue('r'), new ThreadQueue('r')].map((queue) =>
      arrivals.map((item) => queue.accept(item).id),
    );
    expect(replayed[0]).toEqual(replayed[1]);
    const before = new ThreadQueue('r');
    for (const item of arrivals.slice(0, 3)) before.accept(item);
    const after = new ThreadQueue('r', before.toState());
    expect(arrivals.slice(3).map((item) => after.accept(item).id)).toEqual(replayed[0]?.slice(3));
  });

  it('treats an item with a known id as a duplicate', () => {
    const queue = new ThreadQueue('run');
    queue.accept(message('a'));
    expect(queue.accept(message('a', 'other'))).toEqual({ id: 'a', duplicate: true });
    expect(queue.size).toBe(1);
    queue.settle(queue.take(), 0);
    expect(queue.accept(message('a')).duplicate).toBe(true);
    expect(new ThreadQueue('run', queue.toState()).accept(message('a')).duplicate).toBe(true);
  });

  it('tracks its size in bytes without recounting, however items come and go', () => {
    const queue = new ThreadQueue('run');
    const bytesOf = (items: readonly QueueItem[]) =>
      items.reduce((sum, item) => sum + Buffer.byteLength(JSON.stringify(item)), 0);
    for (let index = 0; index < 10; index++) queue.accept(message(`m${index}`, 'x'.repeat(index)));
    const inline = () => queue.toState().inline;
    expect(queue.inlineBytes).toBe(bytesOf(inline()));
    const taken = queue.take();
    queue.accept(message('late', 'é'));
    expect(queue.inlineBytes).toBe(bytesOf(inline()));
    queue.settle(taken.slice(0, 4), 0);
    queue.spilled(queue.nextSpill());
    expect(queue.inlineBytes).toBe(bytesOf(inline()));
    expect(new ThreadQueue('run', queue.toState()).inlineBytes).toBe(queue.inlineBytes);
    queue.settle(taken.slice(4), 1);
    expect(queue.inlineBytes).toBe(0);
  });

  it('writes a limited number of items to the store at a time, oldest first', () => {
    const queue = new ThreadQueue('run');
    for (let index = 0; index <= LIMITS.stashItems; index++) queue.accept(message(`m${index}`));
    expect(queue.nextSpill()).toHaveLength(LIMITS.stashItems);
    queue.spilled(queue.nextSpill());
    expect(ids(queue.nextSpill())).toEqual([`m${LIMITS.stashItems}`]);
  });

  it('remembers only the newest ids', () => {
    const queue = new ThreadQueue('run');
    for (let n = 0; n <= LIMITS.seenIds; n++) queue.accept(message(`m${n}`));
    expect(queue.toState().seen).toHaveLength(LIMITS.seenIds);
    expect(queue.accept(message('m1')).duplicate).toBe(true);
    expect(queue.accept(message('m0')).duplicate).toBe(false);
  });

  it('keeps the items a step took until the step has stored them', () => {
    const queue = new ThreadQueue('run');
    queue.accept(message('a'));
    expect(ids(queue.take())).toEqual(['a']);
    queue.accept(message('b'));
    // The step was cancelled: nothing is settled, so the next step gets the same items and more.
    const again = queue.take();
    expect(ids(again)).toEqual(['a', 'b']);
    queue.accept(message('c'));
    queue.settle(again, 0);
    expect(ids(queue.take())).toEqual(['c']);
  });

  it('lets no new item overtake those in the store', () => {
    const queue = new ThreadQueue('run');
    queue.accept(message('a'));
    queue.spilled(queue.nextSpill());
    queue.accept(message('b'));
    expect(queue.mustStash).toBe(true);
    expect(queue.take()).toEqual([]);
    queue.spilled(queue.nextSpill());
    expect(queue.mustStash).toBe(false);
    queue.settle(queue.take(), 2);
    expect(queue.size).toBe(0);
  });

  it('keeps items taken by a step ahead of those in the store, in the next run too', () => {
    const queue = new ThreadQueue('run');
    queue.accept(message('a'));
    queue.take();
    queue.accept(message('b'));
    queue.spilled(queue.nextSpill());
    queue.accept(message('c'));
    const next = new ThreadQueue('run', queue.toState());
    expect(ids(next.take())).toEqual(['a']);
    expect(ids(next.nextSpill())).toEqual(['c']);
  });

  it('writes large content to the store first', () => {
    const queue = new ThreadQueue('run');
    queue.accept(message('a', 'x'.repeat(LIMITS.stepInlineBytes)));
    expect(queue.mustStash).toBe(true);
    expect(queue.take()).toEqual([]);
  });

  it('counts a weight for items without content', () => {
    const queue = new ThreadQueue('run');
    for (let n = 0; n < 1000; n++) queue.accept({ kind: 'stored', id: `s${n}`, role: 'user' });
    expect(queue.inlineBytes).toBeGreaterThan(LIMITS.carriedInlineBytes);
    expect(queue.mustStash).toBe(true);
  });

  it('writes batches within their size limit, and a larger item alone', () => {
    const queue = new ThreadQueue('run');
    const large = 'x'.repeat(LIMITS.stashBytes / 2 - 200);
    for (const id of ['a', 'b', 'c']) queue.accept(message(id, large));
    expect(ids(queue.nextSpill())).toEqual(['a', 'b']);
    const huge = new ThreadQueue('run');
    huge.accept(message('a', 'x'.repeat(LIMITS.stashBytes * 2)));
    huge.accept(message('b'));
    expect(ids(huge.nextSpill())).toEqual(['a']);
  });

  it('corrects its count of stored rows with each commit', () => {
    const queue = new ThreadQueue('run');
    queue.addWaiting(2);
    expect(queue.size).toBe(2);
    queue.settle(queue.take(), 5);
    expect(queue.size).toBe(0);
    queue.recount(1);
    expect(queue.size).toBe(1);
    expect(queue.holdsItems).toBe(false);
    queue.accept(message('a'));
    expect(queue.holdsItems).toBe(true);
  });
});

/** The queue and a store that keeps one plain list, driven by a simulated workflow in any order. */
class Walk {
  queue = new ThreadQueue('run');
  readonly expected: string[] = [];
  readonly drained: string[] = [];
  /** The store's rows in line; the ids that are messages already are in `drained`. */
  #rows: string[] = [];
  #held: readonly QueueItem[] = [];
  #next = 0;

  accept(duplicateOf?: number): void {
    const id = duplicateOf === undefined ? `m${this.#next++}` : `m${duplicateOf}`;
    if (!this.queue.accept(message(id)).duplicate) this.expected.push(id);
  }

  get arrivals(): number {
    return this.#next;
  }

  stash(): void {
    const batch = this.queue.nextSpill();
    this.#rows.push(...ids(batch).filter((id) => !this.drained.includes(id)));
    this.queue.spilled(batch);
  }

  take(): void {
    if (this.queue.mustStash) this.stash();
    this.#held = this.queue.take();
  }

  /** The step's transaction: it drains the items that it took, then the rows in line. */
  drain(): number {
    const fresh = ids(this.#held).filter((id) => !this.drained.includes(id));
    const swept = this.#rows.splice(0);
    this.drained.push(...fresh, ...swept);
    return swept.length;
  }

  step(options: { answerLost: boolean }): void {
    this.take();
    const swept = this.drain();
    if (options.answerLost) return; // Cancelled after the commit: the workflow does not learn of it.
    this.queue.settle(this.#held, swept);
  }

  continueAsNew(): void {
    this.queue = new ThreadQueue('run', JSON.parse(JSON.stringify(this.queue.toState())));
  }

  commit(): void {
    this.queue.recount(this.#rows.length);
  }
}

describe('[runtime 9] the queue compared with a plain list', () => {
  it.each(SEEDS)('neither loses nor duplicates an item, and keeps the order (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const walk = new Walk();
    for (let n = 0; n < 400; n++) {
      const dice = random.below(100);
      if (dice < 50) walk.accept();
      else if (dice < 58 && walk.arrivals > 0)
        walk.accept(Math.max(0, walk.arrivals - 1 - random.below(100)));
      else if (dice < 68) walk.stash();
      else if (dice < 76) walk.take();
      else if (dice < 90) walk.step({ answerLost: random.chance(0.3) });
      else if (dice < 95) walk.commit();
      else walk.continueAsNew();
      // At every moment, what the store has drained is a prefix of what has arrived.
      expect(walk.drained).toEqual(walk.expected.slice(0, walk.drained.length));
    }
    walk.step({ answerLost: false });
    walk.commit();
    walk.step({ answerLost: false });
    expect(walk.drained).toEqual(walk.expected);
    walk.commit();
    expect(walk.queue.size).toBe(0);
  });
});
