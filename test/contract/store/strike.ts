/** Strikes against units of work that take down their process. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';

export function registerStrike(given: () => Stores): void {
  describe('crash strikes', () => {
    const work = (name: string) => ({
      work: `${name}:${randomUUID()}`,
      threadId: 'thread-1',
      code: 'tool',
      name,
    });
    const strikesOf = async ({ work: key }: { work: string }) =>
      (await given().second.strikes.read(key))?.strikes;

    it('count each process death once, however often it is reported', async () => {
      const [culprit, bystander] = [work('culprit'), work('bystander')];
      const deaths = [
        { id: randomUUID(), culprit, suspects: [] },
        { id: randomUUID(), culprit, suspects: [bystander] },
      ];
      await given().store.strikes.recordDeaths(deaths);
      await given().store.strikes.recordDeaths(deaths);
      expect(await strikesOf(culprit)).toBe(2);
      expect(await strikesOf(bystander)).toBe(0);
    });

    it('mark work that merely ran as suspect without a count, and keep an existing count', async () => {
      const suspect = work('suspect');
      await given().store.strikes.recordDeaths([{ id: randomUUID(), culprit: suspect, suspects: [] }]);
      await given().store.strikes.recordDeaths([{ id: randomUUID(), suspects: [suspect] }]);
      expect(await strikesOf(suspect)).toBe(1);
    });

    it('are removed when the work ends normally, without affecting other work', async () => {
      const [suspect, other] = [work('suspect'), work('other')];
      await given().store.strikes.recordDeaths([{ id: randomUUID(), suspects: [suspect] }]);
      await given().store.strikes.clear(suspect.work);
      await given().store.strikes.clear(other.work);
      expect(await strikesOf(suspect)).toBeUndefined();
      expect(await given().store.strikes.read(other.work)).toBeNull();
    });
  });
}
