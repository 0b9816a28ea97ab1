/**
 * The clock of a worker process jumps by hours, in both directions, during turns, streams, tools and effects: no thread
 * fails, nothing runs twice, and only work that is due at a certain time waits for the clock.
 */
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ended, schedule } from '../support/effects.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { release } from '../support/fault-project.ts';

const HOURS_MS = 5 * 60 * 60 * 1000;
const PRELOAD = pathToFileURL(join(import.meta.dirname, '..', 'support', 'shifted-clock.mjs')).href;

const WAITING_CLIENT = join(import.meta.dirname, '..', 'support', 'waiting-client.ts');

let cluster: Cluster;
let clockFile: string;

/** The same worker runs through all jumps. */
beforeAll(async () => {
  clockFile = join(process.env.EVERTHREAD_TEST_FOLDER as string, `clock-${Math.random()}`);
  cluster = await startCluster({
    environment: { NODE_OPTIONS: `--import ${PRELOAD}`, EVERTHREAD_TEST_CLOCK: clockFile },
  });
  await cluster.keep(1);
});
beforeEach(() => {
  jump(0);
  rmSync(join(cluster.folder, 'release'), { force: true });
});
afterAll(() => cluster?.close());

/** Shifts the worker's clock; the time of the thread's next event shows that it has taken effect. */
function jump(milliseconds: number): void {
  writeFileSync(clockFile, String(milliseconds));
}

async function eventTimes(thread: string, type: string): Promise<number[]> {
  const events = await cluster.store.events.read(thread, 0, 100_000);
  return events.filter((event) => event.type === type).map(({ at }) => at / 1000);
}

async function streamed(thread: string): Promise<void> {
  await eventually('streamed text', async () => (await eventTimes(thread, 'model.chunk')).length > 0);
}

describe.each([
  ['forward', HOURS_MS],
  ['back', -HOURS_MS],
])('a clock that jumps %s by five hours', (_way, shift) => {
  it('leaves the transcript of a stream, a tool and a turn as in an undisturbed run', async () => {
    const expected = await Promise.all(['slowly', 'use write 3', 'use hold 1'].map(run));
    rmSync(join(cluster.folder, 'release'));
    const [slow, held] = [await cluster.begin('slowly'), await cluster.begin('use hold 1')];
    await streamed(slow);
    const writing = await cluster.begin('use write 3');
    jump(shift);
    await cluster.client.waitForIdle(writing);
    await cluster.client.waitForIdle(slow);
    jump(0);
    release(cluster.folder);
    await cluster.client.waitForIdle(held);
    const transcripts = await Promise.all([slow, writing, held].map((thread) => cluster.transcript(thread)));
    expect(transcripts).toEqual(expected);
    expect(cluster.ledger(writing)).toEqual(['1', '2', '3']);
    expect(cluster.ledger(held)).toEqual(['1']);
    for (const thread of [slow, writing, held])
      expect(await cluster.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    // The clock did jump: events stored in the meantime have the shifted time.
    const times = await eventTimes(writing, 'tool.done');
    expect(times.every((at) => Math.abs(at - shift - Date.now()) < HOURS_MS / 2)).toBe(true);
    expect(cluster.workers).toHaveLength(1);
  });

  it('leaves the messages of a thread in order', async () => {
    const thread = await cluster.start('one');
    jump(shift);
    await cluster.say(thread, 'two');
    jump(0);
    await cluster.say(thread, 'three');
    const transcript = await cluster.transcript(thread);
    expect(transcript.filter((line) => line.startsWith('user'))).toEqual([
      'user: one',
      'user: two',
      'user: three',
    ]);
    const events = await cluster.store.events.read(thread, 0, 100_000);
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(events.at(-1)?.at).toBeLessThan((Date.now() + 60_000) * 1000);
  });
});

describe('a client that waits for a thread', () => {
  it('neither times out early nor waits longer when its clock jumps', async () => {
    const thread = await cluster.begin('use hold 1');
    const client = spawn(process.execPath, [WAITING_CLIENT], {
      env: {
        ...process.env,
        NODE_OPTIONS: `--import ${PRELOAD}`,
        EVERTHREAD_TEST_CLOCK: clockFile,
        EVERTHREAD_WAIT: JSON.stringify({ folder: cluster.folder, taskQueue: cluster.taskQueue, thread }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    client.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await eventually('the client waits', () => said.includes('waiting'));
    jump(HOURS_MS);
    await eventually('the client goes on waiting', () => said.includes('looked again'));
    release(cluster.folder);
    await eventually('the client has an answer', () => /idle|Timeout/.test(said));
    expect(said).toMatch(/idle\n$/);
  });
});

describe('an effect', () => {
  it('fires once if the jump makes it due, and waits for its time if the jump delays it', async () => {
    const thread = await cluster.start('hello');
    // One effect is due within the jump, the other after it.
    await schedule(cluster.client, thread, 'fire', {
      id: 'soon',
      args: { line: 'soon' },
      delayMs: HOURS_MS / 2,
    });
    await schedule(cluster.client, thread, 'fire', {
      id: 'late',
      args: { line: 'late' },
      delayMs: HOURS_MS * 2,
    });
    jump(HOURS_MS);
    await cluster.say(thread, 'the time');
    await ended(cluster, thread, 1);
    jump(-HOURS_MS);
    await schedule(cluster.client, thread, 'fire', { id: 'ahead', args: { line: 'ahead' } });
    await cluster.say(thread, 'again');
    // By the clock of this process the effect is due; by the worker's clock it is due in five hours.
    expect((await cluster.store.effects.list(thread)).map(({ id }) => id).sort()).toEqual(['ahead', 'late']);
    jump(0);
    await cluster.say(thread, 'and again');
    await ended(cluster, thread, 2);
    expect(cluster.ledger(thread).map((line) => line.split(' ')[0])).toEqual(['soon', 'ahead']);
  });
});

/** Runs a message without disturbance and returns the transcript. */
async function run(message: string): Promise<string[]> {
  const thread = await cluster.begin(message);
  if (message.startsWith('use hold')) {
    await eventually('the side effect', () => cluster.ledger(thread).length === 1);
    release(cluster.folder);
  }
  await cluster.client.waitForIdle(thread);
  return cluster.transcript(thread);
}
