/**
 * Threads whose messages are edited again and again, while they work or are at rest, and workers are killed at random: each edit
 * leaves one message and one answer, and no call of a superseded part is run again. `EVERTHREAD_FAULT_SEED` changes
 * the schedule.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type KillOrdeal, PATIENCE, tellThread, workUnderKills } from '../support/killing.ts';
import { seededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_129);
/** Edits of one thread. */
const EDITS = 6;

export function describeSupersedeKill({ threads, kills, seconds }: KillOrdeal): void {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.close());

  const rest = (thread: string) => cluster.client.waitForIdle(thread, { timeoutMs: PATIENCE[0] });

  /** One message of the user, and one answer to it. */
  async function expectOne(thread: string, text: string): Promise<void> {
    const { messages } = await cluster.client.getMessages(thread, { limit: 1000 });
    const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    const answers = messages.filter(({ role, content }) => role === 'assistant' && content);
    expect([thread, users, answers.length]).toEqual([thread, [text], 1]);
    expect(answers[0]?.content).toContain(`Answered "${text}"`);
  }

  describe(`${threads} concurrent threads with edited messages, during ${kills} deaths of workers`, () => {
    it(
      `have one tail and one answer after each edit (seed ${SEED})`,
      async () => {
        let edits = 0;
        const random = seededRandom(SEED);
        const work = async () => {
          const thread = await cluster.begin('say 0');
          try {
            await rest(thread);
            const [first] = (await cluster.client.getMessages(thread)).messages;
            const messageId = first?.id ?? '';
            let calls = 0;
            for (let n = 1; n <= EDITS; n += 1) {
              const uses = random.below(2) === 0;
              const text = uses ? `use write 1, ${n}` : `say ${n}`;
              if (uses) calls += 1;
              const request = { messageId, message: { content: text }, requestId: `r${n}` };
              const ask = () =>
                cluster.client.supersede(thread, { ...request, cancel: true, acknowledge: true });
              const asked = await ask();
              // As after a lost answer.
              if (random.below(2) === 0) expect(await ask()).toEqual(asked);
              edits += 1;
              // Else the next edit comes while it works.
              if (random.below(3) === 0) continue;
              await rest(thread);
              await expectOne(thread, text);
            }
            await rest(thread);
            const parts = (await cluster.store.events.read(thread, 0, 100_000)).filter(
              ({ type }) => type === 'messages.superseded',
            );
            expect([thread, parts.length]).toEqual([thread, EDITS]);
            // A call runs at most once, and only for an edit that asked for it.
            expect(cluster.ledger(thread).length).toBeLessThanOrEqual(calls);
            await cluster.client.terminate(thread);
          } catch (error) {
            await tellThread(cluster, thread, 'superseded');
            throw error;
          }
        };
        const deaths = await workUnderKills({
          cluster,
          kills,
          seconds,
          seed: SEED,
          signs: () => cluster.model.requests.length + edits,
          lanes: Array.from({ length: threads }, () => work),
        });
        process.stdout.write(`${edits} edits, ${deaths.working} + ${deaths.starting} deaths\n`);
        expect(edits).toBeGreaterThan(EDITS);
      },
      PATIENCE[0] * 2,
    );
  });
}
