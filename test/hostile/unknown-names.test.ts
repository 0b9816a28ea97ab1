/**
 * Signals, updates and queries with names that a thread does not know, and their effect in large numbers: the history
 * continues.
 */
import { describe, expect, it } from '@jest/globals';
import type { EnhancedStackTrace } from '@temporalio/workflow';
import { hostileRuntime } from '../support/hostile.ts';
import { json, rawQuery, rawUpdate } from '../support/raw-payload.ts';
import { eventually } from '../support/runtime.ts';

/** The SDK throws on the first name if a default handler is set, and answers queries of the others itself. */
const NAMES = [
  '__temporal_',
  '__temporal_workflow_metadata',
  '__temporal_workflow_stream_publish',
  '__stack_trace',
  '__enhanced_stack_trace',
  '__everthread',
  'unknown',
  'constructor',
  '__proto__',
  'querymessage',
  'status',
  'sendMessage',
  'é'.repeat(400),
];

describe('an unknown name', () => {
  it('of a signal is logged once, and dropped', async () => {
    const thread = await hostileRuntime();
    for (const name of NAMES) await thread.signal(name, [json({ content: 'x' })]);
    expect(await thread.rejected(1)).toEqual([
      'InvalidMessage: there is no signal "__temporal_"; a thread knows queueMessage, queueTool, stop, terminate, wakeForEffects, wakeForMessages, answerWait, cancelExecution',
    ]);
    for (const name of NAMES) await thread.signal(name);
    await thread.expectHealth();
    expect(await thread.rejections()).toHaveLength(1);
  });

  it('of a signal sent before a worker starts is logged too', async () => {
    const thread = await hostileRuntime();
    await thread.stopWorker();
    for (const name of NAMES) await thread.signal(name);
    const other = await hostileRuntime({ store: thread.store, taskQueue: thread.taskQueue });
    await thread.rejected(1);
    await other.say(thread.victim, 'hello');
    expect(await other.transcript(thread.victim)).toEqual(['user: hello', 'assistant: echo hello']);
  });

  it('of an update is refused with a code, without a trace in history', async () => {
    const thread = await hostileRuntime();
    for (const name of NAMES.filter((name) => name !== 'sendMessage')) {
      const failure = await rawUpdate(thread.client, thread.victim, name, [json({ content: 'x' })]);
      expect(failure).toMatchObject({
        message: `There is no update ${JSON.stringify(name.slice(0, 64))}; a thread knows sendMessage, answerWait, cancelExecution.`,
        applicationFailureInfo: { type: 'InvalidMessage' },
      });
    }
    await thread.expectHealth();
  });

  it('of a query is answered with an error, and the SDK’s own queries still work', async () => {
    const thread = await hostileRuntime({ workflowBundle: process.env.EVERTHREAD_TEST_MAPPED_BUNDLE });
    const query = async (name: string) => {
      const { queryResult } = await rawQuery(thread.client, thread.victim, name, [json(1)]);
      return Buffer.from(queryResult?.payloads?.[0]?.data ?? []).toString();
    };
    for (const name of ['__temporal_', '__proto__', 'unknown', 'stop']) {
      await expect(query(name)).rejects.toThrow(/did not register a handler/);
    }
    expect(await query('__stack_trace')).toContain('workflows/thread.ts');
    const { stacks } = JSON.parse(await query('__enhanced_stack_trace')) as EnhancedStackTrace;
    const files = stacks.flatMap(({ locations }) => locations.map((each) => each.file_path ?? ''));
    expect(files).toContainEqual(expect.stringContaining('workflows/thread.ts'));
    // The stacks do not show the code that runs the workflow (worker/pending-stacks.ts, S8).
    expect(files).not.toContain('node:vm');
    const { definition } = JSON.parse(await query('__temporal_workflow_metadata'));
    const names = definition.signalDefinitions.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(
      [
        'answerWait',
        'queueMessage',
        'queueTool',
        'stop',
        'terminate',
        'wakeForEffects',
        'wakeForMessages',
        'cancelExecution',
      ].sort(),
    );
    await thread.expectHealth();
  });
});

const WAKE_DELAYS = [1e300, -1e300, 1e15, -1, 0.5, '5', null, [], {}, true];

describe('an idle thread whose history grows by signals without work', () => {
  it.each([
    ['of unknown names', (index: number) => [`nothing ${index}`, json(index)] as const],
    [
      'that ask for effects at absurd times',
      (index: number) => ['wakeForEffects', json({ inMs: WAKE_DELAYS[index % WAKE_DELAYS.length] })] as const,
    ],
    ['that ask for effects in a year', () => ['wakeForEffects', json({ inMs: 31e9 })] as const],
  ])('%s continues as new', async (_, next) => {
    const thread = await hostileRuntime({ configuration: { historySoftLimit: 50 } });
    const first = await thread.runIdOf(thread.victim);
    const send = async () => {
      for (let index = 0; index < 60; index++) {
        const [name, payload] = next(index);
        await thread.signal(name, [payload]);
      }
    };
    await send();
    await eventually('the next run', async () => (await thread.runIdOf(thread.victim)) !== first);
    await thread.expectHealth();
  });
});
