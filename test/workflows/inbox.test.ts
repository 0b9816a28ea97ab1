/** The items queued for a thread, and what a waiting workflow learns of them. */
import { describe, expect, it } from '@jest/globals';
import { createCarried } from '../../src/core/thread/carried.ts';
import { Inbox } from '../../src/workflows/inbox.ts';

const inbox = () => new Inbox('run', createCarried('helper'));

describe('news of a line', () => {
  it('are what is put in it, and what is said of it', () => {
    const line = inbox();
    const { news } = line;
    line.wake();
    const woken = line.news;
    expect(woken).toBeGreaterThan(news);
    line.accept({ kind: 'message', role: 'user', content: 'go', id: 'm1' } as never);
    expect(line.news).toBeGreaterThan(woken);
  });

  it('are more rows than were known, whose writer was lost before it said so', () => {
    const line = inbox();
    line.announce(1);
    const { news } = line;
    line.announce(1);
    expect(line.news).toBe(news);
    line.announce(2);
    expect(line.news).toBeGreaterThan(news);
  });
});
