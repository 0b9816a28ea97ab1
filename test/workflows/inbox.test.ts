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
