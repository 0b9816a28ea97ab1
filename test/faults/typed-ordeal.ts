/**
 * Clients ask for typed answers, some of them over OpenAI's door, while workers are killed at random: each question has one
 * answer, which fits, each draft is rejected once, and no client ever reads anything but the value. `EVERTHREAD_FAULT_SEED`
 * changes the schedule.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { type ServedApi, serveApi } from '../../src/cli/serve/serve-api.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type KillOrdeal, PATIENCE, tellThread, workUnderKills } from '../support/killing.ts';
import { seededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_129);
const LINE = {
  type: 'object',
  properties: { line: { type: 'string' } },
  required: ['line'],
  additionalProperties: false,
};
const FORMAT = { type: 'json_schema' as const, json_schema: { name: 'line', schema: LINE, strict: true } };

type Ask = (thread: string, content: string) => Promise<unknown>;

export function describeTypedKill({ threads, kills, seconds }: KillOrdeal): void {
  let cluster: Cluster;
  let served: ServedApi;
  let openai: OpenAI;
  beforeAll(async () => {
    cluster = await startCluster();
    served = await serveApi(createApi({ client: cluster.client }), { host: '127.0.0.1', port: 0 });
    openai = new OpenAI({ baseURL: `${served.url}/v1`, apiKey: 'none', maxRetries: 0 });
  });
  afterAll(async () => {
    await served?.close();
    await cluster?.close();
  });

  const toRequest = (thread: string, content: string) => ({
    model: 'helper',
    messages: [{ role: 'user' as const, content }],
    metadata: { thread_id: thread },
    response_format: FORMAT,
  });
  const WAYS: readonly Ask[] = [
    async (thread, content) => {
      const { choices } = await openai.chat.completions.parse(toRequest(thread, content));
      return choices[0]?.message.parsed;
    },
    async (thread, content) => {
      const pieces: string[] = [];
      const stream = openai.chat.completions.stream(toRequest(thread, content));
      stream.on('content', (delta) => void pieces.push(delta));
      const { choices } = await stream.finalChatCompletion();
      expect(JSON.parse(pieces.join(''))).toEqual(choices[0]?.message.parsed);
      return choices[0]?.message.parsed;
    },
    async (thread, content) => {
      await cluster.client.queueMessage(thread, { content, output: LINE });
      return (await cluster.client.waitForIdle(thread, { timeoutMs: PATIENCE[0] })).output;
    },
  ];

  describe(`${threads} concurrent threads with typed answers, during ${kills} deaths of workers`, () => {
    it(
      `give each client the value of its own question alone (seed ${SEED})`,
      async () => {
        let answers = 0;
        const random = seededRandom(SEED);
        const work = async (lane: number, turn: number) => {
          const thread = `typed-${lane}-${turn}`;
          await cluster.client.startThread({ agent: 'helper', threadId: thread });
          const drafts: number[] = [];
          try {
            for (let n = 0; n < 4; n += 1) {
              const times = random.below(3);
              const content = `draft ${times} ${lane}.${turn}.${n}`;
              expect(await random.pick(WAYS)(thread, content)).toEqual({ line: content });
              drafts.push(times);
              answers += 1;
            }
            const events = await cluster.store.events.read(thread, 0, 100_000);
            const counts = drafts.flatMap((times) => Array.from({ length: times }, (_, n) => n + 1));
            expect(eventsOf(events, 'output.rejected').map(({ data }) => data.count)).toEqual(counts);
            expect(eventsOf(events, 'step.committed').map(({ data }) => data.typed)).toEqual(
              drafts.map(() => true),
            );
            const { messages } = await cluster.client.getMessages(thread, { limit: 100 });
            expect(messages.map(({ role }) => role)).toEqual(drafts.flatMap(() => ['user', 'assistant']));
            await cluster.client.terminate(thread);
          } catch (error) {
            await tellThread(cluster, thread, 'typed');
            throw error;
          }
        };
        const deaths = await workUnderKills({
          cluster,
          kills,
          seconds,
          seed: SEED,
          signs: () => cluster.model.requests.length + answers,
          lanes: Array.from({ length: threads }, (_, lane) => (turn) => work(lane, turn)),
        });
        process.stdout.write(`${answers} answers, ${deaths.working} + ${deaths.starting} deaths\n`);
        expect(answers).toBeGreaterThan(threads);
      },
      PATIENCE[0] * 2,
    );
  });
}
