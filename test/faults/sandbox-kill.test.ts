/** A worker dies or shuts down while it runs code: none of its sandbox processes remains, and its threads continue. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, says } from '../../src/testing/index.ts';
import { type Cluster, startCluster, type WorkerProcess } from '../support/fault-cluster.ts';
import { faultScript } from '../support/fault-project.ts';
import { cpuMs, isAlive } from '../support/process-tree.ts';
import { eventually } from '../support/runtime.ts';
import { sandboxChildren, sandboxProcesses } from '../support/sandbox-children.ts';

/** Milliseconds for which code computes: until after the kill, and shorter than any wait of the test. */
const COMPUTING_MS = 7000;
/** About a second of computing: even if a busy machine delays the code beyond that moment, it visibly computes. */
const ROUNDS = 30_000_000;
/** Milliseconds of CPU time: more than the start of a process takes. */
const COMPUTED_MS = 600;

let cluster: Cluster;
/** Time at which the code of the current test may end; set by its first request. */
let until: number | undefined;
/** CPU time of processes that existed before the current test. */
let computedBefore: ReadonlyMap<number, number>;

/** The test finds processes in /proc. */
const onLinux = process.platform === 'linux' ? describe : describe.skip;

beforeAll(async () => {
  const script = faultScript();
  cluster = await startCluster({
    script: (request, index) => {
      if (request.messages.findLast(({ role }) => role === 'user')?.content !== 'compute') {
        return script(request, index);
      }
      const last = request.messages.at(-1);
      if (last?.role === 'tool') return says(`The code says ${last.content}`);
      until ??= Date.now() + COMPUTING_MS;
      const loop = `let round = 0; while (Date.now() < ${until} || round < ${ROUNDS}) round += 1;`;
      return calls('run_code', { source: `${loop} export default 'done'` });
    },
    configuration: { toolGraceMs: 1000 },
  });
});
afterAll(() => cluster?.close());

/** Returns the only worker once `count` of its processes compute. */
async function computingWorker(count: number): Promise<WorkerProcess> {
  const [worker] = cluster.workers as [WorkerProcess];
  const computes = (pid: number) => (cpuMs(pid) ?? 0) - (computedBefore.get(pid) ?? 0) > COMPUTED_MS;
  await eventually('code that computes', () => sandboxChildren(worker.pid).filter(computes).length >= count);
  return worker;
}

/** The processes that must not outlive the worker, which is suspended so that it starts none in between. */
function childrenOf(holder: WorkerProcess): number[] {
  process.kill(holder.pid, 'SIGSTOP');
  const children = [...sandboxProcesses(holder.pid), ...sandboxChildren(holder.pid)];
  process.kill(holder.pid, 'SIGCONT');
  expect(children.length).toBeGreaterThan(0);
  return children;
}

/** Begins a tool's code and a model's code on the same worker. */
async function beginBoth(): Promise<{ tool: string; model: string; holder: WorkerProcess }> {
  // A worker that took over in an earlier test is now the one to be killed.
  await cluster.keep(1);
  until = undefined;
  const [{ pid: worker }] = cluster.workers as [WorkerProcess];
  computedBefore = new Map(sandboxChildren(worker).map((pid) => [pid, cpuMs(pid) ?? 0]));
  const tool = await cluster.begin('use compute 1');
  const model = await cluster.begin('compute');
  const holder = await computingWorker(2);
  // The CPU time alone may have come from the start of the processes.
  await eventually('the side effect', () => cluster.ledger(tool).length === 1);
  return { tool, model, holder };
}

onLinux('a worker in the middle of a run, killed with SIGKILL', () => {
  let threads: { readonly tool: string; readonly model: string };

  it('leaves no sandbox process behind when it is killed', async () => {
    const { holder, ...begun } = await beginBoth();
    threads = begun;
    const children = childrenOf(holder);
    await holder.end('SIGKILL');
    // The code of the tool computes without end.
    await eventually('the sandbox processes to be gone', () => !children.some(isAlive));
    await cluster.keep(1);
  });

  it('leaves a tool call with an unknown outcome: the model reads that, and the thread continues', async () => {
    const thread = threads.tool;
    await cluster.client.waitForIdle(thread);
    expect((await cluster.transcript(thread)).slice(2)).toEqual([
      expect.stringMatching(/^tool compute error: .*outcome of this call is unknown/),
      'assistant: Answered "use compute 1" after 1 tool results.',
    ]);
    const asked = cluster.model.requests.map(({ messages }) => JSON.stringify(messages));
    expect(asked.filter((text) => text.includes('outcome of this call is unknown'))).not.toEqual([]);
    // One line: the loop was not started again.
    expect(cluster.ledger(thread)).toEqual(['1']);
  });

  it('runs code of a model again on another worker, since it is pure', async () => {
    const thread = threads.model;
    await cluster.client.waitForIdle(thread);
    expect((await cluster.transcript(thread)).slice(1)).toEqual([
      'assistant:  -> run_code',
      'tool run_code success: {"result":"done"}',
      'assistant: The code says {"result":"done"}',
    ]);
  });
});

onLinux('a worker in the middle of a run, told to go with SIGTERM', () => {
  it('exits with its sandbox processes after the grace period, and another worker takes over its tool and model code', async () => {
    const { tool, model, holder } = await beginBoth();
    const children = childrenOf(holder);
    await cluster.keep(2);
    await holder.end('SIGTERM');
    // The worker waited for its processes: they exit before it does.
    expect(children.filter(isAlive)).toEqual([]);
    for (const [thread, told] of [
      [tool, /^tool compute error: .*outcome of this call is unknown/],
      [model, /^tool run_code success: \{"result":"done"\}$/],
    ] as const) {
      await cluster.client.waitForIdle(thread);
      expect((await cluster.transcript(thread))[2]).toMatch(told);
    }
  });
});
