/**
 * The process of a worker is frozen while it makes the steps of a turn, until another worker has ended that turn: a
 * laptop that slept, a virtual machine that was moved, a container at its limit. What it asks for when it wakes is
 * refused, and what its tool did is told, so the thread is that of the other worker alone.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { type Cluster, startCluster, type WorkerProcess } from '../support/fault-cluster.ts';
import { faultScript, release } from '../support/fault-project.ts';
import { loseActivities } from '../support/lost-activities.ts';
import { eventually } from '../support/runtime.ts';

const frozen: WorkerProcess[] = [];
let cluster: Cluster;

afterEach(async () => {
  for (const worker of frozen.splice(0)) if (worker.alive) process.kill(worker.pid, 'SIGCONT');
  await cluster.close();
});

/**
 * Freezes the only worker until another one, started for it, has brought the thread to rest. The server may hand the
 * frozen one further tasks, as its polls are still open: each is lost as soon as it is seen.
 */
async function freezeUntilRest(thread: string): Promise<WorkerProcess> {
  const [worker] = cluster.workers;
  if (!worker) throw new Error('There is no worker.');
  process.kill(worker.pid, 'SIGSTOP');
  frozen.push(worker);
  await cluster.keep(2);
  const { client, taskQueue } = cluster;
  const lost = { client: client.temporal, taskQueue, pid: worker.pid };
  const rested = new AbortController();
  const losing = (async () => {
    while (!rested.signal.aborted) await loseActivities(lost, rested.signal);
  })();
  await client.waitForIdle(thread);
  rested.abort();
  await losing;
  return worker;
}

const wake = ({ pid }: WorkerProcess) => process.kill(pid, 'SIGCONT');

describe('a worker that is frozen within a turn and wakes after it', () => {
  it('stores no answer of its model', async () => {
    const answer = Promise.withResolvers<void>();
    const script = faultScript();
    const asked = { third: 0, over: 0 };
    cluster = await startCluster({
      script: async (request, index) => {
        const isThird = request.messages.filter(({ role }) => role === 'tool').length === 2;
        if (isThird && ++asked.third === 1) {
          await answer.promise;
          asked.over += 1;
        }
        return script(request, index);
      },
    });
    await cluster.keep(1);
    const thread = await cluster.begin('use tap 3');
    await eventually('the third step asks', () => asked.third === 1);
    const worker = await freezeUntilRest(thread);
    const before = await cluster.transcript(thread);
    const { lastSeq } = await cluster.client.getThread(thread);
    answer.resolve();
    wake(worker);
    await eventually('its model has answered', () => asked.over === 1);
    await cluster.say(thread, 'more');
    await worker.end('SIGTERM');
    expect(before).toEqual([
      'user: use tap 3',
      ...['1', '2', '3'].flatMap((line) => ['assistant:  -> tap', `tool tap success: wrote ${line}`]),
      'assistant: Answered "use tap 3" after 3 tool results.',
    ]);
    expect((await cluster.transcript(thread)).slice(before.length)).toEqual([
      'user: more',
      'assistant: Answered "more" after 0 tool results.',
    ]);
    expect(cluster.ledger(thread)).toEqual(['1', '2', '3']);
    const since = await cluster.store.events.read(thread, lastSeq, 100_000);
    expect(eventsOf(since, 'step.committed')).toHaveLength(1);
  });

  it('has the result of its tool told, and the call stays unknown', async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    // The first call of a tool is an activity of its own; the second runs within that of its step.
    const thread = await cluster.begin('use hold 1');
    await eventually('the tool runs', () => cluster.ledger(thread).length === 1);
    const worker = await freezeUntilRest(thread);
    release(cluster.folder);
    wake(worker);
    const late = async () =>
      eventsOf(await cluster.store.events.read(thread, 0, 100_000), 'tool.late_result');
    await eventually('its result is told', async () => (await late()).length === 1);
    expect(cluster.ledger(thread)).toEqual(['1']);
    expect(await cluster.transcript(thread)).toEqual([
      'user: use hold 1',
      'assistant:  -> hold',
      expect.stringContaining('The outcome of this call is unknown'),
      'assistant: Answered "use hold 1" after 1 tool results.',
    ]);
  });
});
