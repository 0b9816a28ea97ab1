/** A client's record of what it has sent: everything that may be on its way, and nothing else. */
import { describe, expect, it } from '@jest/globals';
import { SentLedger } from '../../src/client/sent-ledger.ts';

describe('the ledger of sent messages', () => {
  it('drops the oldest entries while nobody waits, so that a server that only sends does not grow', () => {
    const ledger = new SentLedger();
    for (let n = 0; n < 60_000; n++) ledger.addMessage(`thread-${n % 30_000}`, `message-${n}`, {});
    expect(ledger.size).toBeGreaterThanOrEqual(10_000);
    expect(ledger.size).toBeLessThanOrEqual(20_000);
    expect([...ledger.of('thread-29999').ids].at(-1)).toBe('message-59999');
  });

  it('keeps the newest messages of each thread, which are user messages, and whether it has ended', () => {
    const ledger = new SentLedger();
    ledger.of('ended').ended = true;
    for (let n = 0; n < 25_000; n++)
      ledger.addMessage('busy', `message-${n}`, { role: n % 2 === 0 ? 'user' : 'system' });
    const { ids, words } = ledger.of('busy');
    expect(ids.size).toBeLessThan(12_000);
    expect([...ids].slice(-1000)).toEqual(Array.from({ length: 1000 }, (_, n) => `message-${24_000 + n}`));
    expect([...words].every((id) => ids.has(id))).toBe(true);
    expect([...words].at(-1)).toBe('message-24998');
    expect([ledger.hasEnded('ended'), ledger.hasEnded('busy')]).toEqual([true, false]);
  });
});
