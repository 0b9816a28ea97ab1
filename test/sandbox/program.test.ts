/** The program of a child as one file: what it contains, what it still imports, and who builds it. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { childProgram, linkProgram } from '../../src/sandbox/host/program.ts';
import { probeWall } from '../../src/sandbox/host/wall/choose.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { readProcess } from '../support/process-tree.ts';
import { sandboxChildren } from '../support/sandbox-children.ts';

const HOST_PROGRAM = fileURLToPath(new URL('../../src/sandbox/host/program.ts', import.meta.url));

describe('the program of a sandbox child', () => {
  it('contains everything but the engine and Node’s modules', async () => {
    const text = await linkProgram();
    const asked = [...text.matchAll(/\boutside\('([^']+)'\)/g)].map(([, specifier]) => specifier as string);
    const packages = asked.filter((specifier) => !isBuiltin(specifier));
    expect(packages).toEqual(['isolated-vm']);
  });

  it('is one complete file per source version, which the children run', async () => {
    const path = await childProgram();
    const source = `import(${JSON.stringify(HOST_PROGRAM)}).then(async (p) => console.log(await p.childProgram()))`;
    const others = await Promise.all(
      [1, 2].map(() => promisify(execFile)(process.execPath, ['-e', source], { encoding: 'utf8' })),
    );
    expect(others.map(({ stdout }) => stdout.trim())).toEqual([path, path]);
    expect(readFileSync(path, 'utf8')).toBe(await linkProgram());
    const sandbox = createSandbox({ size: 1 });
    try {
      const run = await sandbox.scope().runCode('export default 1;');
      expect(run).toMatchObject({ status: 'success' });
      if (process.platform !== 'linux') return;
      const commands = sandboxChildren().map((pid) => readProcess(pid, 'cmdline').split('\0'));
      expect(commands.length).toBeGreaterThan(0);
      for (const command of commands) expect(command).toContain(path);
    } finally {
      await sandbox.close();
    }
  });

  it('of the probe runs, and reports a missing wall without failing', async () => {
    if (process.platform !== 'linux') return;
    const probed = await probeWall('none');
    expect(probed).toEqual({ stands: false, why: expect.stringContaining('it does not protect') });
  });
});
