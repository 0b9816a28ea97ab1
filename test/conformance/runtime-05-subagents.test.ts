/** runtime §5.3: subagents are called like any tool. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { workflowOf } from '../support/operator.ts';
import { activitiesOf } from '../support/scheduled.ts';
import { cast, childrenOf, familyRuntime, lastResult } from '../support/subagent-project.ts';

const FINISH = calls('finish', { text: 'done' });
const OK = says('ok');

describe('runtime §5.3 Tool classes', () => {
  it('[runtime 5.3a] a subagent is called among other tools, in the returned order, and its error is a result', async () => {
    const actors = cast({
      main: [
        callsMany([
          { name: 'keep', args: { name: 'a.txt' } },
          { name: 'scout' },
          { name: 'scout', args: '{' },
          { name: 'keep', args: { name: 'b.txt' } },
        ]),
        OK,
      ],
      scout_a: [FINISH],
    });
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'] });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).slice(1)).toEqual([
      'assistant:  -> keep, scout, scout, keep',
      'tool keep success: kept a.txt',
      'tool scout success: done',
      'tool scout error: Failed to execute tool: scout: the arguments are not a JSON object: they are incomplete because the answer was cut off. Call the tool again with complete, shorter arguments, or split the work into several calls.',
      'tool keep success: kept b.txt',
      'assistant: ok',
    ]);
  });

  it('[runtime 5.3a] calls above the number of names in a step may be of subagents', async () => {
    const many = Array.from({ length: 17 }, (_, n) => ({ name: 'keep', args: { name: `${n}.txt` } }));
    const actors = cast({ main: [callsMany([...many, { name: 'scout' }]), OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'] });
    const thread = await runtime.start('go');
    expect((await lastResult(runtime, thread))?.content).toBe('done');
  });

  it('[runtime 5.3a] code may queue a subagent that its prompt does not list', async () => {
    const send = defineTool({
      description: 'sends a scout',
      execute: async (state: ThreadState) => {
        state.queueTool('scout', { where: 'north' });
        return { status: 'success', result: 'sent' };
      },
    });
    const actors = cast({ main: [calls('send'), OK, OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({ cast: actors, tools: { send }, main: { tools: ['send'] } });
    const thread = await runtime.start('go');
    expect((await lastResult(runtime, thread))?.content).toBe('done');
    const [child] = await childrenOf(runtime, thread);
    const [, first] = await runtime.messages(child?.threadId as string);
    expect(first?.content).toBe('{"where":"north"}');
  });

  it('[runtime 5.3a] a sub-prompt may call one, and gets its result', async () => {
    const actors = cast({
      main: [calls('consult'), OK],
      consult: [calls('scout', {}, { text: 'I ask.' })],
      scout_a: [FINISH],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: ['consult'],
      prompts: { consult: { tools: ['scout'] } },
    });
    const thread = await runtime.start('go');
    expect((await lastResult(runtime, thread))?.content).toContain('scout() → done');
  });

  it('[runtime 8.2] the activity of a last step also delivers the report, and ends a child that receives no more', async () => {
    const actors = cast({
      main: [calls('scout'), calls('scout'), OK],
      scout_a: [FINISH, FINISH],
    });
    const at: Partial<Record<string, () => Promise<unknown>>> = {};
    const probe = async (point: string) => void (await at[point]?.());
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'], runtime: { probe } });
    const { threadId: thread } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'go' }],
    });
    const steps = async () =>
      (await activitiesOf(runtime.client, thread)).filter((name) => name === 'modelStep').length;
    // A child ends once the next step of its parent is asked for; that goes on though its workflow learns of the end.
    let reports = 0;
    at.report_signalled = () => {
      reports += 1;
      return eventually('the next step', async () => (await steps()) > reports);
    };
    at.model_answered = async () => {
      if ((await steps()) < 3) return;
      await eventually('the workflow knows that both children have completed', async () => {
        const { events } = await workflowOf(runtime, thread).fetchHistory();
        const known = events?.filter((event) => event.childWorkflowExecutionCompletedEventAttributes);
        const { raw } = await workflowOf(runtime, thread).describe();
        return known?.length === 2 && !raw.pendingWorkflowTask;
      });
    };
    await runtime.client.waitForIdle(thread);
    const made: string[][] = [];
    for (const { threadId } of await childrenOf(runtime, thread)) {
      await workflowOf(runtime, threadId).result();
      made.push(await activitiesOf(runtime.client, threadId));
    }
    // In the first child, the tool that ends its session had yet to prove short.
    expect(made.toSorted((one, other) => one.length - other.length)).toEqual([
      ['openThread', 'modelStep'],
      ['openThread', 'modelStep', 'runTool', 'commitStatus', 'reportToParent', 'commitStatus'],
    ]);
    expect((await activitiesOf(runtime.client, thread)).slice(-3)).toEqual([
      'callSubagent',
      'finishSubagent',
      'modelStep',
    ]);
  });
});
