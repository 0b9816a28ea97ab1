/** The kernel's limits on a child, as the kernel reports them, independent of any watchdog. Linux only. */
import { describe, expect, it } from '@jest/globals';
import { chooseWall, createSandbox, SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { readProcess } from '../support/process-tree.ts';
import { sandboxChildren } from '../support/sandbox-children.ts';

const GIB = 1024 ** 3;
const onLinux = process.platform === 'linux' ? describe : describe.skip;

/** Soft and hard limits, by the kernel's names; an unlimited one is infinite. */
function limitsOf(pid: number): Map<string, readonly [soft: number, hard: number]> {
  const rows = readProcess(pid, 'limits').matchAll(/^(Max .*?) {2,}(\S+) +(\S+)/gm);
  const toNumber = (text = '') => (text === 'unlimited' ? Number.POSITIVE_INFINITY : Number(text));
  return new Map([...rows].map(([, name = '', soft, hard]) => [name, [toNumber(soft), toNumber(hard)]]));
}

onLinux('the kernel bounds a child of the sandbox', () => {
  it.each(['bubblewrap', 'namespaces', 'none'] as const)('behind %s', async (setting) => {
    const wall = await chooseWall(setting).catch(() => undefined);
    if (!wall) return void process.stdout.write(`NO WALL HERE: ${setting}\n`);
    const sandbox = createSandbox({ size: 1, wall: setting });
    try {
      expect(await sandbox.scope().runCode('export default 1')).toMatchObject({ result: 1 });
      // A child that is still starting has no limits yet: nothing has run in it.
      const children = sandboxChildren();
      expect(children.length).toBeGreaterThan(0);
      for (const child of children) {
        const limits = limitsOf(child);
        const [data, most] = limits.get('Max data size') ?? [];
        expect(data).toBeGreaterThan(SANDBOX_LIMITS.memoryCeiling);
        expect(data).toBeLessThan(3.5 * GIB);
        // The hard limit is the same, so the child cannot raise it.
        expect(most).toBe(data);
        expect(limits.get('Max core file size')).toEqual([0, 0]);
        expect(limits.get('Max file size')).toEqual([0, 0]);
        expect(limits.get('Max open files')).toEqual([128, 128]);
      }
    } finally {
      await sandbox.close();
    }
  });
});
