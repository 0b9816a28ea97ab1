/**
 * The walls themselves: which one is chosen where, what is refused, and that no child outlives the worker behind one.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readConfiguration } from '../../src/configuration.ts';
import { CLONE, CLONE3, REFUSED_CALLS, seccompFilter } from '../../src/sandbox/host/wall/seccomp.ts';
import { chooseWall, createSandbox } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/process-tree.ts';
import { sandboxChildren, sandboxProcesses } from '../support/sandbox-children.ts';

const INDEX = new URL('../../src/sandbox/index.ts', import.meta.url).href;
const HEADERS = {
  x64: ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm/unistd_64.h'],
  arm64: ['/usr/include/asm-generic/unistd.h'],
} as const;

describe('the wall of a sandbox', () => {
  it('is none by default', async () => {
    expect(await chooseWall('none')).toEqual({ kind: 'none', holds: [], seccomp: false, missing: [] });
  });

  it('runs programs, functions and memory limits the same behind each available one', async () => {
    for (const setting of ['bubblewrap', 'namespaces', 'none'] as const) {
      const wall = await chooseWall(setting).catch(() => undefined);
      if (!wall) {
        process.stdout.write(`NO WALL HERE: ${setting}\n`);
        continue;
      }
      expect(wall.kind).toBe(setting);
      const sandbox = createSandbox({ size: 1, wall: setting });
      const { runCode } = sandbox.scope();
      const double = (n: number) => 2 * n;
      expect(await runCode('export default await double(21)', { globals: { double } })).toMatchObject({
        result: 42,
      });
      const grow = 'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i });';
      expect(await runCode(grow, { memoryLimitBytes: 16 * 1024 * 1024 })).toMatchObject({ status: 'memory' });
      expect(await runCode('export default 1')).toMatchObject({ result: 1 });
      await sandbox.close();
    }
    expect(sandboxProcesses()).toEqual([]);
  });

  it('is bubblewrap wherever it can create its namespaces', async () => {
    const names = ['user', 'pid', 'net', 'ipc', 'uts'].map((name) => `--unshare-${name}`);
    const { status } = spawnSync('bwrap', [...names, '--ro-bind', '/', '/', 'true']);
    if (status !== 0) return void process.stdout.write('NO BUBBLEWRAP HERE\n');
    // Otherwise our own probe is wrong, and every child would have a weaker wall than possible.
    expect((await chooseWall('auto')).kind).toBe('bubblewrap');
  });

  it('is refused by name if it is required and unavailable', async () => {
    const code = `
      const { chooseWall } = await import(${JSON.stringify(INDEX)});
      Object.defineProperty(process, 'platform', { value: 'sunos' });
      await chooseWall('required').catch(({ code, message }) => console.log(JSON.stringify({ code, message })));
      console.log(JSON.stringify(await chooseWall('auto')));`;
    const [refused, chosen] = (await outputOf(code))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(refused).toMatchObject({
      code: 'InvalidConfiguration',
      message: expect.stringContaining('bubblewrap: not on sunos'),
    });
    expect(chosen).toMatchObject({ kind: 'none', missing: [{ kind: 'bubblewrap' }, { kind: 'namespaces' }] });
  });

  it('moves memory checks to a thread of the child if the host cannot read its memory', async () => {
    const sandbox = createSandbox({ size: 1, wall: 'none', watch: 'inside' });
    const { runCode } = sandbox.scope();
    const grow = 'const all = []; for (;;) all.push("x".repeat(2 ** 20).split(""));';
    expect(await runCode(grow, { memoryLimitBytes: 16 * 1024 * 1024 })).toMatchObject({ status: 'memory' });
    expect(await runCode('export default 1')).toMatchObject({ result: 1 });
    await sandbox.close();
  });

  it('is a setting of the worker, and a wrong value is reported', () => {
    expect(readConfiguration({}).sandboxWall).toBe('auto');
    expect(readConfiguration({ EVERTHREAD_SANDBOX_WALL: 'required' }).sandboxWall).toBe('required');
    expect(() => readConfiguration({ EVERTHREAD_SANDBOX_WALL: 'brick' })).toThrow(
      'EVERTHREAD_SANDBOX_WALL is "brick"',
    );
  });

  it.each(['auto', 'none'])(
    '(%s) lets no child outlive a killed worker, even one that is stuck before its run',
    async (wall) => {
      // The erasure of types blocks the child's main thread, so that it does not notice the closed channel.
      const code = `
      const { createSandbox } = await import(${JSON.stringify(INDEX)});
      const { runCode } = createSandbox({ size: 1, wall: ${JSON.stringify(wall)} }).scope();
      await runCode('export default 1');
      void runCode('const x = ' + '<T>('.repeat(40) + 'a' + ')=>1'.repeat(40));
      setInterval(() => undefined, 1000);
      console.log('stuck');`;
      const worker = start(code);
      await new Promise((resolve) => worker.stdout.once('data', resolve));
      const children = await eventually('it has children', () => {
        const pid = worker.pid as number;
        const found = [...sandboxProcesses(pid), ...sandboxChildren(pid)];
        return found.length > 0 && found;
      });
      worker.kill('SIGKILL');
      await eventually('its children are gone', () => !children.some(isAlive));
    },
  );
});

describe('the system call filter', () => {
  it.each(['x64', 'arm64'] as const)('has the numbers of the kernel on %s', (arch) => {
    const header = HEADERS[arch].find((path) => existsSync(path));
    if (!header)
      return void process.stdout.write(`no kernel headers of ${arch} here: numbers not compared\n`);
    const text = readFileSync(header, 'utf8');
    const column = arch === 'x64' ? 0 : 1;
    const told = (name: string) => {
      const [, number] = new RegExp(`^#define __NR(?:3264)?_${name}\\s+(\\d+)\\s*$`, 'm').exec(text) ?? [];
      return number === undefined ? undefined : Number(number);
    };
    const all = { ...REFUSED_CALLS, clone: CLONE, clone3: CLONE3 };
    for (const [name, numbers] of Object.entries(all))
      expect([name, numbers[column]]).toEqual([name, told(name)]);
  });

  it('has complete instructions that end in a verdict, and is omitted for unknown architectures', () => {
    for (const arch of ['x64', 'arm64']) {
      const filter = seccompFilter(arch) as Buffer;
      expect(filter.length % 8).toBe(0);
      expect(filter.readUInt16LE(filter.length - 8)).toBe(0x06);
      expect(filter.readUInt32LE(filter.length - 4)).toBe(0x7fff0000);
    }
    expect(seccompFilter('riscv64')).toBeUndefined();
  });
});

function start(code: string) {
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function outputOf(code: string): Promise<string> {
  const script = start(code);
  let told = '';
  script.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  await new Promise((resolve) => script.once('close', resolve));
  return told;
}
