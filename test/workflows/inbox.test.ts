/** The items queued for a thread, and what a waiting workflow learns of them. */
import { describe, expect, it } from '@jest/globals';
import { createCarried } from '../../src/core/thread/snapshot.ts';
import { Inbox } from '../../src/workflows/inbox.ts';

const inbox = () => new Inbox('run', createCarried('helper'));

describe('the news of an inbox', () => {
  it('are its items and its announcements', () => {
    const line = inbox();
    const { news } = line;
    line.wake();
    const woken = line.news;
    expect(woken).toBeGreaterThan(news);
    line.accept({ kind: 'message', role: 'user', content: 'go', id: 'm1' } as never);
    expect(line.news).toBeGreaterThan(woken);
  });

  it('include more rows than announced, if their writer was lost before its signal', () => {
    const line = inbox();
    line.announce(1);
    const { news } = line;
    line.announce(1);
    expect(line.news).toBe(news);
    line.announce(2);
    expect(line.news).toBeGreaterThan(news);
  });
});

describe('the count of an inbox', () => {
  it('includes items that were spilled after the store had begun to count', () => {
    const line = inbox();
    const accept = (id: string) => line.accept({ kind: 'message', role: 'user', content: id, id } as never);
    line.beginCount();
    accept('m1');
    line.spilled(line.queue.nextSpill());
    line.endCount(0);
    expect(line.hasWork).toBe(true);
    // An item that comes next must not overtake it.
    accept('m2');
    expect(line.queue.mustStash).toBe(true);
  });

  it('includes every batch that was spilled meanwhile', () => {
    const line = inbox();
    line.beginCount();
    for (const id of ['m1', 'm2']) {
      line.accept({ kind: 'message', role: 'user', content: id, id } as never);
      line.spilled(line.queue.nextSpill());
    }
    line.endCount(0);
    expect(line.queue.size).toBe(2);
  });
});
