/** `everthread tasks …` and `everthread manifest …`, over a store that nobody else uses. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { message, openThread } from '../contract/thread-driver.ts';
import { type CliProject, cliProjectWith } from './support.ts';

let project: CliProject;

beforeAll(async () => {
  project = await cliProjectWith(async (store) => {
    const { tasks, waits } = store;
    const thread = await openThread(store);
    await thread.begin([message('m-1', 'hello', { executionId: 'x-1' })], {
      ordinal: 0,
      rules: () => ({ manifest: 'a'.repeat(64) }),
    });
    const open = async (id: string) => {
      const run = { threadId: `task/${id}`, runId: randomUUID() };
      const spec = { id, intent: 'count', inputs: { to: 3 } };
      const start = {
        name: 'counter',
        spec,
        scenarioId: null,
        userId: null,
        requirements: [],
        preflight: 'over' as const,
      };
      await tasks.open({ ...run, mustExist: false, manifest: 'a'.repeat(64), start });
      const evals = [{ id: 'goal', passed: false }];
      await tasks.saveObservation({
        ...run,
        step: 0,
        state: '{"count":0}',
        fingerprint: 'f',
        score: 0.5,
        evals,
      });
      return run;
    };
    const over = await open('t-over');
    await tasks.saveDecision({
      ...over,
      step: 0,
      decision: { kind: 'act', action: { type: 'add' } },
      action: 'a',
    });
    await tasks.beginAct({ ...over, step: 0, attempt: 'one', again: false });
    const outcome = { ok: true, result: 'added', costUsd: 0.5 };
    await tasks.endAct({ threadId: over.threadId, step: 0, attempt: 'one', outcome });
    const verdict = {
      stoppedBy: 'budget',
      pass: false,
      reason: 'budget exhausted: maxSteps=1',
      limit: 'maxSteps',
    } as const;
    await tasks.end({ ...over, verdict, records: null, errors: [] });
    const asks = await open('t-asks');
    await tasks.saveDecision({ ...asks, step: 0, decision: { kind: 'ask', question: 'Which?' } });
    await tasks.rest({ ...asks, waits: true });
    const wait = {
      id: 'w-1',
      threadId: asks.threadId,
      key: 'ask:0',
      kind: 'question',
      name: 'counter',
    } as const;
    await waits.open({ ...wait, summary: 'Which?', data: null, blocks: true });
    const document = {
      id: 'count',
      run: 'counter',
      surfaces: {},
      knowledge: [],
      rubric: { dimensions: [], judges: [] },
    };
    await tasks.saveManifest('a'.repeat(64), document);
  });
});
afterAll(() => project.remove());

const run = (...args: string[]) => project.run(args);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

describe('everthread tasks', () => {
  it('list shows tasks, latest first, by status and name', async () => {
    expect((await json('tasks', 'list')).tasks.map(({ id }: { id: string }) => id)).toEqual([
      't-asks',
      't-over',
    ]);
    expect((await json('tasks', 'list', '--status', 'waiting', '--task', 'counter')).tasks).toMatchObject([
      { id: 't-asks' },
    ]);
    const { stdout } = await run('tasks', 'list');
    expect(stdout).toMatch(/^TASK +NAME +STATUS +STEPS +STARTED +REASON\n/);
    expect(stdout).toMatch(/t-over +counter +failed +1 .* budget exhausted: maxSteps=1/);
  });

  it('show prints the end of a task, its steps, and its wait', async () => {
    const { stdout } = await run('tasks', 'show', 't-over');
    expect(stdout).toMatch(/stopped by +budget \(maxSteps\)/);
    expect(stdout).toMatch(/spent +0\.5 USD/);
    expect(stdout).toMatch(/0 +0\.5 +act \{"type":"add"\} +"added"/);
    expect((await run('tasks', 'show', 't-asks')).stdout).toMatch(/waits +w-1 Which\?/);
    expect(await json('tasks', 'show', 't-asks')).toMatchObject({
      task: { status: 'waiting', spec: { inputs: { to: 3 } } },
      steps: [{ decision: { kind: 'ask' } }],
      waits: [{ id: 'w-1' }],
    });
    expect(await run('tasks', 'show', 'nobody')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('TaskNotFound'),
    });
  });

  it('manifest show finds the manifest of a task or an execution', async () => {
    expect(await json('manifest', 'show', 't-over')).toMatchObject({ document: { id: 'count' } });
    expect(await json('manifest', 'diff', 't-over', 'a'.repeat(8))).toMatchObject({ changes: [] });
    // An execution of an agent that the manifest names is recorded with the manifest as well.
    expect(await json('manifest', 'show', 'x-1')).toMatchObject({ document: { id: 'count' } });
    expect((await run('manifest', 'show', 'nobody')).code).not.toBe(0);
  });
});
