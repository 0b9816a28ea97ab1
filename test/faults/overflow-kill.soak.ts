/** Thirty threads whose messages exceed their model's window, as it counts, while workers are killed: each message is answered once. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { says } from '../../src/testing/index.ts';
import { type Counting, type Family, refuse, usageOf } from '../support/counting-model.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { seededRandom } from '../support/seeded-random.ts';

const [THREADS, MESSAGES, WINDOW, KILLS] = [30, 6, 6000, 4];
const FAMILIES: readonly Family[] = ['openai', 'anthropic', 'groq', 'bedrock'];
const TEXTS = [
  'some words of a report, and more of it. ',
  '敏捷的棕色狐狸跳过了懒狗。',
  'if (a[0] !== b?.c) { x(1); }\n',
];

/** Counts one to three and a half characters a token, and refuses in the words of one family, by the length of the question. */
function countingOf(question: string): Counting {
  const family = FAMILIES[question.length % FAMILIES.length] as Family;
  return { window: WINDOW, charactersPerToken: () => 1 + (question.length % 6) / 2, perMessage: 5, family };
}

describe('a worker process killed with SIGKILL', () => {
  let cluster: Cluster;
  const threads: string[] = [];
  const random = seededRandom('overflow-kill');
  const textOf = () => {
    const text = random.pick(TEXTS);
    return text.repeat(1 + Math.floor(3000 * random.next() ** 2)).slice(0, 60_000);
  };

  beforeAll(async () => {
    cluster = await startCluster({
      script: (request) => {
        const counting = countingOf(
          String(request.messages.findLast(({ role }) => role === 'user')?.content),
        );
        return refuse(request, counting) ?? says('An answer.', { usage: usageOf(request, counting) });
      },
    });
    await cluster.keep(2);
    for (let index = 0; index < THREADS; index += 1) threads.push(await cluster.begin(textOf()));
    for (let message = 2; message <= MESSAGES; message += 1) {
      for (const thread of threads) await cluster.client.queueMessage(thread, { content: textOf() });
      if (message <= KILLS + 1) {
        await cluster.workers[0]?.end('SIGKILL');
        await cluster.keep(2);
      }
      for (const thread of threads) await cluster.client.waitForIdle(thread);
    }
  });
  afterAll(() => cluster?.close());

  it('loses no message of thirty threads because a request is too long', async () => {
    let refused = 0;
    for (const thread of threads) {
      const events = await cluster.store.events.read(thread, 0, 100_000);
      expect(eventsOf(events, 'step.failed')).toEqual([]);
      refused += eventsOf(events, 'model.failed').filter(({ data }) => data.smaller).length;
      const rows = await cluster.messages(thread);
      expect(rows.filter(({ role }) => role === 'user')).toHaveLength(MESSAGES);
      expect(rows.at(-1)).toMatchObject({ role: 'assistant', content: 'An answer.' });
    }
    expect(refused).toBeGreaterThan(THREADS / 2);
  });
});
