/**
 * Two Everthreads on one machine: threads of one delegate to an agent of the other over A2A, while workers of both, and
 * the API process between them, die by SIGKILL. Each delegation is one remote task, each effect happens once, and each
 * result is the task's outcome. `EVERTHREAD_FAULT_SEED` changes the schedule.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { calls, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { PATIENCE, tellThread } from '../support/killing.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { seededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_124);
const LONGEST_PAUSE_MS = 400;

export interface TwoEverthreads {
  /** Threads at a time; each lane delegates again and again until the last death. */
  readonly lanes: number;
  /** Number of deaths: of the local worker, the API process and the remote worker, in turn. */
  readonly kills: number;
}

export function describeTwoEverthreads({ lanes, kills }: TwoEverthreads): void {
  describe('two Everthread instances that talk over A2A', () => {
    let here: Cluster;
    let there: Cluster;
    let api: ChildProcess | undefined;
    let port: number;

    const startApi = async () => {
      const program = join(import.meta.dirname, '..', 'support', 'api-process.ts');
      const store = `sqlite:${join(there.folder, 'store.db')}?synchronous=normal`;
      api = fork(program, [store, there.taskQueue, String(port)], { execArgv: [...PROGRAM_OPTIONS] });
      await once(api, 'message');
    };
    const endApi = async () => {
      if (!api || api.exitCode !== null || api.signalCode !== null) return;
      api.kill('SIGKILL');
      await once(api, 'exit');
    };

    beforeAll(async () => {
      [port = 0] = await findFreePorts(1);
      there = await startCluster();
      here = await startCluster({
        program: join(import.meta.dirname, 'two-everthreads-worker.ts'),
        environment: {
          EVERTHREAD_TEST_PEERS: JSON.stringify({
            peer: { url: `http://127.0.0.1:${port}/a2a/helper`, idempotent: true },
          }),
        },
        script: ({ messages }) => {
          const last = messages.at(-1);
          return last?.role === 'user'
            ? calls('a2a__peer', { message: String(last.content) })
            : says(`told: ${last?.content}`);
        },
      });
      await Promise.all([startApi(), here.keep(1), there.keep(1)]);
    });
    afterAll(async () => {
      await Promise.all([here?.close(), there?.close(), endApi()]);
    });

    it(
      `${lanes} threads at a time delegate during ${kills} deaths: each task runs once, and each caller gets its outcome (seed ${SEED})`,
      async () => {
        const random = seededRandom(SEED);
        const ids: string[] = [];
        let over = false;
        const work = Promise.all(
          Array.from({ length: lanes }, async (_, lane) => {
            for (let turn = lane; turn === lane || !over; turn++) {
              const id = await here.begin(`use linger ${1 + (turn % 3)}`);
              ids.push(id);
              // Deaths may delay an answer beyond the timeout of a single wait.
              await eventually('its answer', () => hasAnswered(here, id), ...PATIENCE);
            }
          }),
        );
        // The error is reported where `work` is awaited.
        work.catch(() => {
          over = true;
        });
        const kill = [
          async () => {
            await here.workers[0]?.end('SIGKILL');
            await here.keep(1);
          },
          async () => {
            await endApi();
            await startApi();
          },
          async () => {
            await there.workers[0]?.end('SIGKILL');
            await there.keep(1);
          },
        ];
        const offset = random.below(kill.length);
        for (let death = 0; death < kills && !over; death++) {
          await delay(random.below(LONGEST_PAUSE_MS));
          await kill[(offset + death) % kill.length]?.();
        }
        over = true;
        await work;
        process.stdout.write(`${ids.length} delegations over ${kills} deaths\n`);
        for (const id of ids) await expectOnce(here, there, id);
      },
      2 * PATIENCE[0],
    );
  });
}

async function hasAnswered(here: Cluster, id: string): Promise<boolean> {
  return (await here.transcript(id).catch(() => [])).at(-1)?.startsWith('assistant: told') ?? false;
}

async function expectOnce(here: Cluster, there: Cluster, id: string): Promise<void> {
  const tasks = (await here.store.events.read(id, 0)).flatMap((event) =>
    event.type === 'a2a.task' ? [event.data] : [],
  );
  const [task] = tasks;
  try {
    expect(tasks).toHaveLength(1);
    const { contextId = '', taskId } = task ?? {};
    // One remote task, from one message.
    expect(await there.client.listExecutions({ threadId: contextId })).toMatchObject([{ id: taskId }]);
    const lines = await there.transcript(contextId);
    expect(lines.filter((line) => line.startsWith('user'))).toHaveLength(1);
    // No effect happens twice; an effect whose worker was lost in the middle may not have happened, and is reported as
    // unknown.
    const ledger = there.ledger(contextId);
    expect(new Set(ledger).size).toBe(ledger.length);
    const done = lines.filter((line) => line.startsWith('tool linger success'));
    expect(ledger.length).toBeGreaterThanOrEqual(done.length);
    // The result here is the remote task's outcome.
    const answer = lines.at(-1)?.replace('assistant: ', '');
    expect(await here.transcript(id)).toEqual([
      expect.stringMatching(/^user/),
      expect.stringContaining('a2a__peer'),
      `tool a2a__peer success: ${answer}`,
      expect.stringContaining(`told: ${answer}`),
    ]);
  } catch (error) {
    await tellThread(here, id, 'a delegation');
    throw error;
  }
}
