/**
 * Tools that misbehave in every way we could think of, in one worker with healthy threads: each affects only its own
 * thread.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { StartThread } from '../../src/client/start-options.ts';
import type { EventData, ThreadEvent } from '../../src/core/event/thread-event.ts';
import type { Message } from '../../src/core/message/message.ts';
import { generateKey } from '../../src/store/crypto/encryption.ts';
import { CLUMSY, type ClumsyTool } from '../support/clumsy-tools.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

const HEALTHY = 20;
const HEALTHY_STEPS = 5;
const TOKEN = 'very-secret-4711';

let cluster: Cluster;
let pid: number | undefined;

beforeAll(async () => {
  process.env.EVERTHREAD_ENCRYPTION_KEYS = generateKey('test');
  cluster = await startCluster({
    program: join(import.meta.dirname, '../support/clumsy-worker.ts'),
    // A computing tool or a busy machine must not make a living worker seem lost.
    configuration: { modelHeartbeatMs: 120_000, toolHeartbeatMs: 120_000 },
  });
  await cluster.keep(1);
  pid = cluster.workers[0]?.pid;
});
afterAll(async () => {
  await cluster?.close();
  delete process.env.EVERTHREAD_ENCRYPTION_KEYS;
});

/** Upper bound in milliseconds for sixty threads at once on any machine; it only bounds a wait that would never end. */
const LONGEST_MS = 600_000;
jest.setTimeout(2 * LONGEST_MS);

const workerLives = () => cluster.workers.length === 1 && cluster.workers[0]?.pid === pid;
const workerLog = () => readFileSync(join(cluster.folder, 'worker.log'), 'utf8');

/** Rejects if the worker dies, since the thread would then never rest. */
async function rest(threadId: string): Promise<void> {
  let resting = false;
  const idle = cluster.client.waitForIdle(threadId, { timeoutMs: LONGEST_MS }).then(() => {
    resting = true;
  });
  const death = eventually('the end', () => resting || !workerLives(), 2 * LONGEST_MS).then(() => {
    if (!resting) throw new Error(`The worker died:\n${workerLog().slice(-3000)}`);
  });
  await Promise.race([idle, death]);
}

async function run(options: StartThread): Promise<string> {
  const { threadId } = await cluster.client.startThread(options);
  await rest(threadId);
  return threadId;
}

const say = (content: string, agent = 'helper'): StartThread => ({ agent, messages: [{ content }] });

async function readEvents(threadId: string): Promise<readonly ThreadEvent[]> {
  return cluster.store.events.read(threadId, 0, 10_000);
}

async function stray(threadId: string, message: RegExp): Promise<EventData['code.stray']> {
  return eventually(`a stray fault like ${message}`, async () => {
    if (!workerLives()) throw new Error(`The worker died:\n${workerLog().slice(-3000)}`);
    const events = (await readEvents(threadId)).filter((event) => event.type === 'code.stray');
    return events.find(({ data }) => message.test(String(data.error)))?.data;
  });
}

const toolMessage = (messages: readonly Message[]) => messages.find(({ role }) => role === 'tool');

interface Ended {
  readonly tool: ClumsyTool;
  readonly threadId: string;
  readonly message: Message | undefined;
}

describe('one worker with misbehaving tools and healthy threads', () => {
  const hostile: Ended[] = [];
  const healthy: string[] = [];

  beforeAll(async () => {
    const runHealthy = async () => healthy.push(await run(say(`use tick ${HEALTHY_STEPS}`)));
    const runHostile = async (tool: ClumsyTool) => {
      const threadId = await run(say(`use ${tool.name} 1`));
      hostile.push({ tool, threadId, message: toolMessage(await cluster.messages(threadId)) });
    };
    await Promise.all([...Array.from({ length: HEALTHY }, runHealthy), ...CLUMSY.map(runHostile)]);
    const rows = hostile.map(({ tool: { name }, message }) => {
      const said = (message?.content ?? '').slice(0, 90).replaceAll('\n', ' ');
      return `${name.padEnd(36)}${String(message?.tool_status).padEnd(9)}${said}`;
    });
    process.stdout.write(`${rows.sort().join('\n')}\n`);
  });

  it('all healthy threads finish', async () => {
    expect(healthy).toHaveLength(HEALTHY);
    for (const threadId of healthy) {
      const results = (await cluster.transcript(threadId)).filter((line) => line.startsWith('tool '));
      expect(results).toEqual(
        Array.from({ length: HEALTHY_STEPS }, (_, step) => `tool tick success: ticked ${step + 1}`),
      );
    }
  });

  it.each(CLUMSY)('$name: only its own call ends, with the expected status and text', (tool) => {
    const message = hostile.find((each) => each.tool.name === tool.name)?.message;
    expect([message?.tool_status, message?.content]).toEqual([tool.status, expect.stringMatching(tool.says)]);
  });

  it.each(CLUMSY.filter((tool) => tool.stray))(
    '$name: an unawaited failure is logged in its own thread',
    async ({ name, stray: message }) => {
      const { threadId } = hostile.find(({ tool }) => tool.name === name) as Ended;
      expect(await stray(threadId, message as RegExp)).toMatchObject({ code: 'tool', name });
    },
  );

  it('a result too long for a message is truncated, and a file has all of it', async () => {
    const { threadId, message } = hostile.find(({ tool }) => tool.name === 'returns_50_mb') as Ended;
    const [path = ''] = message?.content?.match(/\/results\/[\w.-]+\.txt/) ?? [];
    expect(await cluster.client.files(threadId).stat(path)).toMatchObject({ size: 50 * 1024 * 1024 });
  });

  it('each misbehaving tool starts once, idempotent ones included', () => {
    const begun = readFileSync(join(cluster.folder, 'begun'), 'utf8').trim().split('\n');
    expect(begun.sort()).toEqual(CLUMSY.map(({ name }) => name).sort());
  });

  it('ten of many unawaited failures are logged, and other threads are not delayed', async () => {
    const { threadId } = hostile.find(({ tool }) => tool.name === 'floats_ten_thousand') as Ended;
    const told = await eventually('the last of them', async () => {
      const strays = (await readEvents(threadId)).filter((event) => event.type === 'code.stray');
      return strays.length >= 10 && strays;
    });
    expect(told).toHaveLength(10);
    expect(workerLog()).toContain('further faults of this run are not logged');
  });

  it('the stack of a throw names file and line of the tool; the model reads only the message', async () => {
    const { threadId, message } = hostile.find(
      ({ tool }) => tool.name === 'returns_a_thenable_that_throws',
    ) as Ended;
    const result = (await readEvents(threadId)).find((event) => event.type === 'tool.result');
    expect(result?.data.stack).toMatch(
      /Error: a trap\n.*at .*trap .*test\/support\/clumsy-tools\.ts:\d+:\d+/,
    );
    expect(message?.content).toBe('Failed to execute tool: a trap');
    expect(workerLog()).toMatch(/The tool "returns_a_thenable_that_throws" failed/);
  });

  it.each([
    ['returns_a_getter', 'Parts of what it returned could not be written: a trap'],
    ['returns_a_foreign_status', expect.stringContaining('neither "success" nor "error"')],
    ['leaves_a_function_in_its_scratch', 'state.context.done: a function cannot be kept'],
  ])('a note about what %s omitted is logged once in its thread', async (name, note) => {
    const { threadId } = hostile.find(({ tool }) => tool.name === name) as Ended;
    const notes = (await readEvents(threadId)).filter(({ type }) => type === 'code.note');
    expect(notes.map(({ data }) => data)).toEqual([{ code: 'tool', name, note }]);
  });

  it('the stack of an unawaited failure names file and line of the tool', async () => {
    for (const name of ['floats', 'throws_late', 'exits_late']) {
      const { tool, threadId } = hostile.find((each) => each.tool.name === name) as Ended;
      const { stack } = await stray(threadId, tool.stray as RegExp);
      expect(stack).toMatch(/test\/support\/clumsy-tools\.ts:\d+:\d+/);
    }
  });

  it('the worker process is still the same', () => {
    expect(workerLives()).toBe(true);
  });
});

describe('author code other than tools', () => {
  it('fails an effect that leaves a promise unawaited and calls process.exit, and nothing else', async () => {
    const threadId = await run(say('use schedules 1'));
    const failed = await eventually('the end of the effect', async () =>
      (await readEvents(threadId)).find((event) => event.type === 'effect.failed'),
    );
    expect(failed.data).toMatchObject({
      error: { code: 'ProcessCallRefused' },
      stack: expect.stringContaining('clumsy-worker.ts'),
    });
    expect(await stray(threadId, /stray of an effect/)).toMatchObject({ code: 'effect', name: 'strays' });
  });

  it('reports such a hook as failed, and keeps the result of the call', async () => {
    const threadId = await run(say('use tick 1', 'hooked'));
    expect(await cluster.transcript(threadId)).toContain('tool tick success: ticked 1');
    const failed = (await readEvents(threadId)).find((event) => event.type === 'hook.failed');
    expect(failed?.data).toMatchObject({
      id: 'strays',
      error: expect.stringContaining('ProcessCallRefused'),
      stack: expect.stringContaining('clumsy-worker.ts'),
    });
    expect(await stray(threadId, /stray of a hook/)).toMatchObject({ code: 'hook', name: 'strays' });
  });

  it('fails the step of such a provider', async () => {
    const threadId = await run(say('hello', 'odd'));
    const { status } = (await cluster.store.threads.get(threadId)) ?? {};
    expect(status).toBe('failed');
    expect(await stray(threadId, /stray of a provider/)).toMatchObject({ code: 'model', name: 'odd_model' });
  });
});

describe('secrets', () => {
  it('are redacted from errors, their causes, unawaited failures and the log', async () => {
    const env = { TOKEN: { value: TOKEN, type: 'secret' } } as const;
    const threadId = await run({ ...say('use tells 1'), env });
    await stray(threadId, /floating \[secret TOKEN\]/);
    const result = (await readEvents(threadId)).find((event) => event.type === 'tool.result');
    expect(result?.data.stack).toMatch(
      /thrown \[secret TOKEN\][\s\S]*Caused by: Error: caused by \[secret TOKEN\]/,
    );
    expect(JSON.stringify(await readEvents(threadId))).not.toContain(TOKEN);
    await eventually('the line in the log', () => workerLog().includes('The tool "tells" left a rejection'));
    expect(workerLog()).not.toContain(TOKEN);
  });
});
