/** runtime §13 in a thread: what tools and models see of the sandbox, and how runs end with their call or execution. */
import { describe, expect, it } from '@jest/globals';
import type { CodeExecutionResult } from '../../src/core/author/code-execution.ts';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const LOOP = 'for (;;);';

async function begin({ client }: TestRuntime, content: string): Promise<string> {
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content }] });
  return threadId;
}

describe('runtime §13 Code Execution Runtime: state.runCode', () => {
  it('[runtime 13] gives every tool runCode, whose code can use only what the tool passes in', async () => {
    const asked: unknown[] = [];
    const compute = toolOf(async (state) => {
      const source = `
        import { price } from 'shop';
        interface Order { id: string; count: number }
        export default async function total(orders: Order[]) {
          let sum = 0;
          for (const { id, count } of orders) sum += count * await price(id);
          report(sum);
          return { sum, rate, globals: typeof process + typeof fetch + typeof setTimeout };
        }`;
      const price = async (id: string) => {
        asked.push(id);
        return id === 'a' ? 10 : 5;
      };
      const reported: unknown[] = [];
      const { status, result, reports } = await state.runCode(source, {
        execute: {
          args: [
            [
              { id: 'a', count: 2 },
              { id: 'b', count: 1 },
            ],
          ],
        },
        imports: { shop: { price } },
        globals: { rate: 0.5 },
        report: (value) => reported.push(value),
      });
      return { status, result, reports, reported };
    });
    const model = scriptedModel([calls('compute'), says('done')]);
    const runtime = await testRuntime({ model, tools: { compute } });
    const thread = await runtime.start('go');
    const answer = (await runtime.transcript(thread))[2]?.replace('tool compute success: ', '');
    expect(JSON.parse(answer ?? '')).toEqual({
      status: 'success',
      result: { sum: 25, rate: 0.5, globals: 'undefinedundefinedundefined' },
      reports: [25],
      reported: [25],
    });
    expect(asked).toEqual(['a', 'b']);
  });

  it('[runtime 13] never rejects: a problem with code or options is a status', async () => {
    const ends: [string, Promise<CodeExecutionResult>][] = [];
    const compute = toolOf(async (state) => {
      const run = (name: string, ...given: Parameters<ThreadState['runCode']>) =>
        ends.push([name, Promise.resolve(state.runCode(...given))]);
      run('throws', 'export default () => { throw new TypeError("no"); }');
      run('syntax', 'export default (');
      run('options', '', { memoryLimitBytes: -1 });
      const endless = state.runCode(LOOP);
      endless.terminate('enough');
      ends.push(['terminated', Promise.resolve(endless)]);
      return Promise.all(
        ends.map(async ([name, end]) => [name, (await end).status, (await end).error?.name]),
      );
    });
    const runtime = await testRuntime({
      model: scriptedModel([calls('compute'), says('done')]),
      tools: { compute },
    });
    const thread = await runtime.start('go');
    const answer = (await runtime.transcript(thread))[2]?.replace('tool compute success: ', '');
    expect(JSON.parse(answer ?? '')).toEqual([
      ['throws', 'error', 'TypeError'],
      ['syntax', 'link_error', 'SyntaxError'],
      ['options', 'link_error', 'InvalidCodeExecutionOptions'],
      ['terminated', 'terminated', 'Terminated'],
    ]);
  });

  it('a function of a result can be called until its tool call ends, and not later', async () => {
    let double: ((value: number) => Promise<number>) | undefined;
    const compute = toolOf(async (state) => {
      const { result } = await state.runCode('export default { double: (value: number) => 2 * value }');
      double = (result as { double: typeof double }).double;
      return double?.(21);
    });
    const again = toolOf(async () => double?.(1).catch((error: Error) => error.message));
    const runtime = await testRuntime({
      model: scriptedModel([callsMany([{ name: 'compute' }, { name: 'again' }]), says('done')]),
      tools: { compute, again },
    });
    const thread = await runtime.start('go');
    const [, , first, second] = await runtime.transcript(thread);
    expect(first).toBe('tool compute success: 42');
    expect(second).toBe('tool again success: "The work that the sandbox run belonged to has ended."');
  });

  it('tools invoked by a tool share its runs, including the built-in tool', async () => {
    const compute = toolOf((state) => state.invokeTool('run_code', { source: 'export default 6 * 7' }));
    const runtime = await testRuntime({
      model: scriptedModel([calls('compute'), says('done')]),
      tools: { compute },
    });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[2]).toBe(
      `tool compute success: ${JSON.stringify({ status: 'success', result: '{"result":42}' })}`,
    );
  });

  it('[runtime 13.9.15] stop ends an endless loop with its tool call, and the next message is answered', async () => {
    let ended: CodeExecutionResult | undefined;
    let running = false;
    const compute = toolOf(async (state) => {
      const globals = { begun: () => (running = true) };
      ended = await state.runCode(`await begun(); ${LOOP}`, { globals });
    });
    const model = scriptedModel([calls('compute'), says('back')]);
    const runtime = await testRuntime({ model, tools: { compute } });
    const thread = await begin(runtime, 'go');
    await eventually('the loop runs', () => running);
    await runtime.client.stop(thread, 'enough');
    expect(await runtime.client.waitForIdle(thread)).toMatchObject({ status: 'stopped' });
    await eventually('the run has ended', () => ended);
    expect(ended).toMatchObject({ status: 'terminated', error: { name: 'Terminated' } });
    await runtime.say(thread, 'still there?');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: back');
  });

  it("[runtime 13] a tool's timeout ends its runs", async () => {
    let ended: CodeExecutionResult | undefined;
    const compute = toolOf(async (state) => (ended = await state.runCode(LOOP)), 1500);
    const model = scriptedModel([calls('compute'), says('too slow')]);
    // A long heartbeat time-out: the tool's own time-out ends the run, even on a slow machine.
    const configuration = { toolHeartbeatMs: 20_000 };
    const runtime = await testRuntime({ model, tools: { compute }, configuration });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[2]).toMatch(
      /^tool compute error: .*did not answer within 1500 ms/,
    );
    await eventually('the run has ended', () => ended);
    expect(ended).toMatchObject({ status: 'terminated', error: { message: 'Aborted: timed out' } });
  });
});

describe('runtime §13 Code Execution Runtime: the tool run_code', () => {
  const prompt = { tools: ['run_code'] };

  it('runs a model’s code on the same queue as tools, and returns the result to it', async () => {
    const source =
      'export default (a: number, b: bigint) => { console.log("adding"); return new Map([[a, 1n]]); }';
    const model = scriptedModel([calls('run_code', { source, args: [40, 2] }), says('done')]);
    const runtime = await testRuntime({ model, prompt });
    const thread = await runtime.start('compute');
    expect(await runtime.transcript(thread)).toEqual([
      'user: compute',
      'assistant:  -> run_code',
      'tool run_code success: {"result":{"$map":[[40,{"$bigint":"1"}]]},"logs":["adding"]}',
      'assistant: done',
    ]);
    expect(model.requests[0]?.tools?.map((tool) => tool.function.name)).toEqual(['run_code']);
    const { events = [] } = await runtime.client.temporal.workflow
      .getHandle(`thread/${thread}`)
      .fetchHistory();
    const scheduled = events?.flatMap(({ activityTaskScheduledEventAttributes: given }) => given ?? []);
    const queues = scheduled?.map(({ activityType, taskQueue }) => [activityType?.name, taskQueue?.name]);
    // The last step stores the end of its turn, or leaves that to an activity if the turn takes long.
    expect(queues?.slice(0, 4)).toEqual([
      ['openThread', `${runtime.taskQueue}-commits`],
      ['modelStep', runtime.taskQueue],
      ['runCode', `${runtime.taskQueue}-sandbox`],
      ['modelStep', runtime.taskQueue],
    ]);
  });

  it('reports errors of its code to a model, with their location', async () => {
    const wrong = [
      'console.log("begun");',
      'const order: any = {};',
      'export default order.price.toFixed(2);',
    ];
    const model = scriptedModel([
      calls('run_code', { source: wrong.join('\n') }),
      calls('run_code', { source: "import fs from 'node:fs';" }),
      calls('run_code', { language: 'python' }),
      says('I see'),
    ]);
    const runtime = await testRuntime({ model, prompt });
    const thread = await runtime.start('compute');
    const [, , thrown, , unlinked, , refused] = await runtime.transcript(thread);
    expect(thrown).toMatch(
      /^tool run_code error: .*error: TypeError: Cannot read properties of undefined.* \(line 3, column 28\)\nConsole:\nbegun$/,
    );
    expect(unlinked).toMatch(/^tool run_code error: .*link_error: LinkError: Cannot import 'node:fs'/);
    expect(refused).toMatch(/^tool run_code error: .*\[source\].*\[language\]/);
  });

  it('[runtime 13] stop ends an endless loop of a model, and the next message is answered', async () => {
    const model = scriptedModel([
      calls('run_code', { source: LOOP }),
      calls('run_code', { source: 'export default 1' }),
      says('back'),
    ]);
    const runtime = await testRuntime({ model, prompt, configuration: { sandboxSize: 1 } });
    const thread = await begin(runtime, 'compute');
    await eventually('the call has begun', async () =>
      (await runtime.store.events.read(thread, 0)).some((event) => event.type === 'tool.started'),
    );
    await runtime.client.stop(thread);
    expect(await runtime.client.waitForIdle(thread)).toMatchObject({ status: 'stopped' });
    // The sandbox's only place is free again.
    await runtime.say(thread, 'still there?');
    expect((await runtime.transcript(thread)).slice(-2)).toEqual([
      'tool run_code success: {"result":1}',
      'assistant: back',
    ]);
  });

  it('reports a result too large for a model as an error', async () => {
    const model = scriptedModel([
      calls('run_code', {
        source: 'let a: unknown = "x"; for (let i = 0; i < 60; i++) a = [a, a]; export default a;',
      }),
      says('less, then'),
    ]);
    const runtime = await testRuntime({ model, prompt });
    const thread = await runtime.start('compute');
    expect((await runtime.transcript(thread))[2]).toMatch(
      /The result is larger than 262144 bytes; return less\.$/,
    );
  });

  it('can be queued like any other tool', async () => {
    const model = scriptedModel([says('noted')]);
    const runtime = await testRuntime({ model, prompt });
    const thread = await runtime.start();
    await runtime.client.queueTool(thread, { name: 'run_code', arguments: { source: 'export default 5' } });
    await runtime.client.waitForIdle(thread);
    expect(await runtime.transcript(thread)).toContain('tool run_code success: {"result":5}');
  });
});
