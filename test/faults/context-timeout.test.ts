/** One thread harms the V8 context that all threads of a worker share: the effect on the others. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import type { Harm } from '../support/context-workflows.ts';
import { closeAfterTest, eventually, logged, type TestRuntime, testRuntime } from '../support/runtime.ts';

const TIMEOUT =
  'A thread computed longer than the script timeout: the workflow context is discarded and rebuilt';
const DEATH = 'The thread that workflows run in died: it is replaced';
const GRACE_MS = 300;
/** For tests in which the script timeout must not be reached, however busy the machine. */
const LONG_MS = 120_000;

let workflowBundle: string;
let connection: Connection;
let client: Client;
let releaseTool: () => void;
let released: Promise<void>;

beforeAll(async () => {
  const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const { code } = await bundleWorkflowCode({
    workflowsPath: pathOf('../support/context-workflows.ts'),
    workflowInterceptorModules: [pathOf('../support/context-interceptors.ts')],
    payloadConverterPath: pathOf('../../src/workflows/payload-converter.ts'),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  workflowBundle = join(process.env.EVERTHREAD_TEST_FOLDER as string, `context-${randomUUID()}.js`);
  writeFileSync(workflowBundle, code);
  connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS });
  client = new Client({ connection });
});
afterAll(() => connection?.close());
beforeEach(() => {
  ({ promise: released, resolve: releaseTool } = Promise.withResolvers<void>());
});

/** The model answers "done" after each tool result, and calls the tool "hold" on request. */
function harmedRuntime(scriptTimeoutMs = 2000): Promise<TestRuntime> {
  const model = scriptedModel((request) =>
    request.messages.at(-1)?.content === 'hold' ? calls('hold') : says('done'),
  );
  const hold = defineTool({
    description: 'works on, once released, for longer than the grace period',
    execute: async () => {
      await released;
      await new Promise((resolve) => setTimeout(resolve, 3 * GRACE_MS));
      return { status: 'success', result: 'held' };
    },
  });
  const configuration = { scriptTimeoutMs, toolGraceMs: GRACE_MS };
  return testRuntime({ model, tools: { hold }, workflowBundle, configuration, fresh: true });
}

async function begin(runtime: TestRuntime, type: string, ...args: unknown[]): Promise<WorkflowHandle> {
  const workflowId = `${type}-${randomUUID()}`;
  const handle = await client.workflow.start(type, { taskQueue: runtime.taskQueue, workflowId, args });
  closeAfterTest(() =>
    handle.terminate().then(
      () => {},
      () => {},
    ),
  );
  // The first workflow task is done: the worker has the workflow cached.
  await eventually(`${workflowId} to rest`, async () => (await handle.describe()).historyLength >= 4);
  return handle;
}

/** Ends the culprit's script abnormally while tasks of the bystanders are queued behind it. */
async function harm(
  runtime: TestRuntime,
  how: Harm,
): Promise<{ culprit: WorkflowHandle; bystanders: WorkflowHandle[] }> {
  const culprit = await begin(runtime, 'culprit', how);
  const bystanders = await Promise.all(Array.from({ length: 10 }, () => begin(runtime, 'bystander')));
  await culprit.signal('go');
  await Promise.all(bystanders.map((each) => each.signal('end')));
  return { culprit, bystanders };
}

async function countTimers(handle: WorkflowHandle): Promise<number> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.timerStartedEventAttributes).length;
}

const told = (message: string) => logged.filter((entry) => entry.message === message);

describe('a thread that computes longer than the script timeout', () => {
  // An abandoned context refuses work for seconds, so this one test checks every effect of it.
  it('leaves no command in another thread’s history, ends no running tool, and is named in one warning', async () => {
    const runtime = await harmedRuntime();
    const thread = await runtime.start('hello');
    const { threadId: holding } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'hold' }],
    });
    await eventually('the tool to run', async () =>
      (await runtime.store.events.read(holding, 0)).some(({ type }) => type === 'tool.started'),
    );
    const { culprit, bystanders } = await harm(runtime, 'spin');
    const warning = await eventually('the warning', () =>
      told(TIMEOUT).find(({ fields }) => fields.workflowId === culprit.workflowId),
    );
    expect(warning).toMatchObject({ level: 'WARN', fields: { timeouts: 1, refusedMs: 5000 } });
    releaseTool();
    await Promise.all(bystanders.map((each) => each.result()));
    expect(await Promise.all(bystanders.map(countTimers))).toEqual(bystanders.map(() => 0));
    expect(await countTimers(culprit)).toBe(0);
    await runtime.say(thread, 'still there?');
    expect(await runtime.transcript(thread)).toEqual([
      'user: hello',
      'assistant: done',
      'user: still there?',
      'assistant: done',
    ]);
    // The running tool ended normally.
    await runtime.client.waitForIdle(holding);
    expect(await runtime.transcript(holding)).toEqual([
      'user: hold',
      'assistant:  -> hold',
      'tool hold success: held',
      'assistant: done',
    ]);
  });
});

describe('a thread whose workflow code throws', () => {
  it('leaves no command in another thread’s history, and its V8 context is kept', async () => {
    const runtime = await harmedRuntime(LONG_MS);
    const { bystanders } = await harm(runtime, 'throw');
    await Promise.all(bystanders.map((each) => each.result()));
    expect(await Promise.all(bystanders.map(countTimers))).toEqual(bystanders.map(() => 0));
    expect(told(TIMEOUT)).toEqual([]);
  });
});

describe('a workflow thread that dies', () => {
  it('is replaced, while the process and all other threads continue', async () => {
    const runtime = await harmedRuntime(LONG_MS);
    const { culprit, bystanders } = await harm(runtime, 'die');
    await eventually('the warning', () => told(DEATH).length > 0);
    await culprit.terminate();
    await Promise.all(bystanders.map((each) => each.result()));
    expect(await Promise.all(bystanders.map(countTimers))).toEqual(bystanders.map(() => 0));
  });
});
