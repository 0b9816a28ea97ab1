/** The published A2A client, unmodified, while workers die: each of its calls ends with exactly what the thread has. */

import type { StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collect } from '../projections/golden.ts';
import { a2aClient, answerOf, asTask, heard, sending, stateOf, taskIdOf } from '../support/a2a.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

let cluster: Cluster;
let api: TestApi;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.keep(1);
});
afterAll(() => cluster?.close());

/** A client of this agent, on the test's own API server. */
async function clientOf(agent: string): Promise<Client> {
  api = await testApi(cluster);
  return a2aClient(`${api.url}/a2a/${agent}/`);
}

async function killWorker(): Promise<void> {
  await cluster.workers[0]?.end('SIGKILL');
}

const ANSWER = 'Answered "slowly" after 0 tool results.';

describe('an A2A client whose worker is killed', () => {
  it('during an answer: streaming, subscribing and polling clients get the whole answer, once', async () => {
    const client = await clientOf('helper');
    const request = sending('slowly');
    const frames: StreamResponse[] = [];
    let others: Promise<readonly [readonly StreamResponse[], unknown]> | undefined;
    for await (const frame of client.sendMessageStream(request)) {
      frames.push(frame);
      if (others || heard(frames).texts.length < 10) continue;
      const id = taskIdOf(frames);
      const subscribed = collect(client.resubscribeTask({ tenant: '', id }));
      // Sending the same message again waits for the same task.
      others = Promise.all([subscribed, client.sendMessage(request)]);
      await killWorker();
      await cluster.keep(1);
    }
    expect(heard(frames).words.at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(heard(frames).texts).toBe(ANSWER);
    const [subscribed, waited] = (await others) ?? [[], undefined];
    expect(heard(subscribed).words.at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(heard(subscribed).texts).toBe(ANSWER);
    const task = asTask(waited);
    expect([stateOf(task), answerOf(task)]).toEqual(['TASK_STATE_COMPLETED', ANSWER]);
    expect(await cluster.transcript(task.contextId)).toEqual(['user: slowly', `assistant: ${ANSWER}`]);
  });

  it('during an answer: a task cancelled then ends as canceled, on its stream too', async () => {
    const client = await clientOf('helper');
    const frames: StreamResponse[] = [];
    let canceled: Promise<unknown> | undefined;
    for await (const frame of client.sendMessageStream(sending('slowly'))) {
      frames.push(frame);
      if (canceled || heard(frames).texts.length < 10) continue;
      await killWorker();
      canceled = client.cancelTask({ tenant: '', id: taskIdOf(frames), metadata: undefined });
      await cluster.keep(1);
    }
    expect(heard(frames).words.at(-1)).toBe('TASK_STATE_CANCELED');
    await canceled;
    const task = await client.getTask({ tenant: '', id: taskIdOf(frames) });
    expect(stateOf(task)).toBe('TASK_STATE_CANCELED');
  });

  it('during a wait: the answer is accepted without a worker and acted on once', async () => {
    const client = await clientOf('clerk');
    const task = asTask(await client.sendMessage(sending('use refund 1')));
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
    await killWorker();
    const answered = collect(client.sendMessageStream(sending('yes', { taskId: task.id })));
    await cluster.keep(1);
    const { words, texts } = heard(await answered);
    expect([words.at(-1), texts]).toEqual([
      'TASK_STATE_COMPLETED',
      'Answered "use refund 1" after 1 tool results.',
    ]);
    expect(cluster.ledger(task.contextId)).toEqual(['1']);
  });
});
