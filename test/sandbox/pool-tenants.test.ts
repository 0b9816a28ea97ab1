/** A child that has run one tenant's code never serves another; spares are ready. Linux only. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { SandboxScope } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/process-tree.ts';
import { sandboxChildren, sandboxProcesses } from '../support/sandbox-children.ts';
import { gate, openSandbox } from './own-sandbox.ts';

const MIB = 1024 * 1024;
/** MiB that a program holds, which distinguishes its child from those that rest or are starting. */
const HELD_MIB = 60;

function rssMib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Runs a program to its end, and returns the process id of its child. */
async function servedBy(scope: SandboxScope): Promise<number> {
  const { wait, reached, open: letGo } = gate();
  const source = `const held = new Uint8Array(${HELD_MIB} * 1024 * 1024).fill(1); await wait(); export default held.length`;
  const run = scope.runCode(source, { globals: { wait }, memoryLimitBytes: 128 * MIB });
  await reached;
  const pid = sandboxChildren().toSorted((a, b) => rssMib(b) - rssMib(a))[0] as number;
  expect(rssMib(pid)).toBeGreaterThan(HELD_MIB);
  letGo();
  expect((await run).status).toBe('success');
  return pid;
}

describe('the children of a sandbox with several tenants', () => {
  it('serve one tenant each, in any order of tenants', async () => {
    const { sandbox } = openSandbox(1);
    const served = new Map<number, Set<string>>();
    for (const tenant of ['a', 'b', 'a', 'c', 'b', 'a', 'a']) {
      const scope = sandbox.scope({ tenant });
      const pid = await servedBy(scope);
      scope.close();
      served.set(pid, (served.get(pid) ?? new Set()).add(tenant));
    }
    expect([...served.values()].filter((tenants) => tenants.size > 1)).toEqual([]);
    expect(served.size).toBeGreaterThanOrEqual(3);
  });

  it('serve nested runs of their own tenant only', async () => {
    const { sandbox } = openSandbox(1);
    const [a, b] = [sandbox.scope({ tenant: 'a' }), sandbox.scope({ tenant: 'b' })];
    const first = await servedBy(a);
    const nested: number[] = [];
    const nest = async () => void nested.push(await servedBy(b));
    expect((await a.runCode('export default await nest() ?? 1', { globals: { nest } })).status).toBe(
      'success',
    );
    expect(nested).toHaveLength(1);
    expect(nested).not.toContain(first);
  });

  it('of an unnamed tenant are removed with its scope', async () => {
    const { sandbox } = openSandbox(1);
    const scope = sandbox.scope();
    const pid = await servedBy(scope);
    scope.close();
    await eventually('the child is gone', () => !isAlive(pid));
    const again = await servedBy(sandbox.scope());
    expect(again).not.toBe(pid);
  });

  it('are idle in a number independent of the tenants, and a spare is ready', async () => {
    const { sandbox } = openSandbox(1);
    const pids: number[] = [];
    for (let n = 0; n < 5; n += 1) pids.push(await servedBy(sandbox.scope({ tenant: `tenant ${n}` })));
    expect(new Set(pids).size).toBe(5);
    await eventually(
      'the rest are gone',
      () => sandboxChildren().length === 2 && pids.filter(isAlive).length === 1,
    );
  });

  it('have no spare if one program runs alone', async () => {
    const { sandbox, runCode } = openSandbox(1, { spare: false });
    const { wait, reached, open: letGo } = gate();
    const run = runCode('await wait(); export default 1', { globals: { wait } });
    await reached;
    expect(sandboxProcesses()).toHaveLength(1);
    letGo();
    expect(await run).toMatchObject({ status: 'success', result: 1 });
    expect(sandboxProcesses()).toHaveLength(1);
    // Another tenant still gets a child.
    const next = sandbox.scope({ tenant: 'next' });
    expect(await next.runCode('export default 2')).toMatchObject({ status: 'success', result: 2 });
  });
});
