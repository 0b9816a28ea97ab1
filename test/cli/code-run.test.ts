/** `everthread code run`: a program in the sandbox, from a shell. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { cpuMs, isAlive } from '../support/process-tree.ts';
import { eventually } from '../support/runtime.ts';
import { sandboxChildren, sandboxProcesses } from '../support/sandbox-children.ts';
import { type CliProject, cliProject } from './support.ts';

let project: CliProject;

/** Processes are found in /proc. */
const onLinux = process.platform === 'linux' ? it : it.skip;

beforeEach(async () => {
  project = await cliProject();
});
afterEach(() => project.remove());

/** Neither Temporal nor a project is needed: nothing listens at this address, and no command may try to connect. */
const env = { TEMPORAL_ADDRESS: '127.0.0.1:1' };

function code(source: string, args: readonly string[] = [], file = 'file.ts') {
  project.write({ [file]: source });
  return project.run(['code', 'run', file, ...args], { env });
}

interface Printed {
  readonly logs: readonly unknown[];
  readonly [field: string]: unknown;
}

async function json(source: string, args: readonly string[] = [], file?: string) {
  const { code: exit, stdout } = await code(source, ['--json', ...args], file);
  return { exit, ...(JSON.parse(stdout) as Printed) };
}

describe('everthread code run', () => {
  it('prints the value of the default export, called with the arguments when it is a function', async () => {
    const [called, text, data] = await Promise.all([
      code('export default (a: number, b: number) => a * b', ['--args', '[6, 7]']),
      code('export default "as it is"', [], 'text.ts'),
      code('export default { a: 1n, m: new Map([[1, [2]]]) }', [], 'data.ts'),
    ]);
    expect(called).toEqual({ code: 0, stdout: '42\n', stderr: '' });
    expect(text.stdout).toBe('as it is\n');
    expect(data.stdout).toBe('{ a: 1n, m: Map(1) { 1 => [ 2 ] } }\n');
  });

  it('runs another export with --fn, and standard input for -', async () => {
    const source = 'export const shout = (text: string) => text.toUpperCase()';
    const input = 'export default 1 as number';
    const [shouted, read] = await Promise.all([
      code(source, ['--fn', 'shout', '--args', '["hi"]']),
      project.run(['code', 'run', '-'], { input, env }),
    ]);
    expect(shouted.stdout).toBe('HI\n');
    expect(read).toMatchObject({ code: 0, stdout: '1\n' });
  });

  it('takes file.js, file.mjs and --language javascript for JavaScript, where types are an error', async () => {
    const cases: [string, ...string[]][] = [
      ['file.js'],
      ['file.mjs'],
      ['file.ts', '--language', 'javascript'],
    ];
    await Promise.all(
      cases.map(async ([file, ...args]) => {
        const { code: exit, stderr } = await code('export default 1 as number', args, file);
        expect({ file, exit, stderr }).toEqual({
          file,
          exit: 1,
          stderr: expect.stringContaining('link_error: SyntaxError'),
        });
      }),
    );
  });

  it('reports an error with its location, the lines around it, and the stack; the console goes to standard error', async () => {
    const source = [
      'interface Order { price?: { cents: number } }',
      'export default function total() {',
      '  console.log("begun", { a: 1 });',
      '  const order: Order = {};',
      '  return order.price!.cents;',
      '}',
    ].join('\n');
    const { code: exit, stdout, stderr } = await code(source);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain('begun { a: 1 }\nerror: TypeError: Cannot read properties of undefined');
    expect(stderr).toContain('(file.ts:5:23)\n\n  3 |   console.log("begun", { a: 1 });\n');
    expect(stderr).toContain('> 5 |   return order.price!.cents;\n    |                       ^\n');
    expect(stderr).toMatch(/\n +at total \(sandbox:file\.ts:5:23\)/);
    expect(stderr).not.toContain(project.folder);
  });

  it('with --json prints the whole result, with tags for values that JSON lacks', async () => {
    const source =
      'console.warn("w", 1n); export default { when: new Date(0), set: new Set([1n]), f: () => 1 };';
    const [result, error] = await Promise.all([
      json(source),
      json('export default () => { throw new RangeError("no") }', [], 'no.ts'),
    ]);
    expect(result).toMatchObject({
      exit: 0,
      status: 'success',
      result: {
        when: { $date: '1970-01-01T00:00:00.000Z' },
        set: { $set: [{ $bigint: '1' }] },
        f: { $function: 'f' },
      },
      logs: [{ level: 'warn', args: ['w', { $bigint: '1' }], timestamp: expect.any(Number) }],
      reports: [],
      durationMs: expect.any(Number),
    });
    expect(error).toMatchObject({
      exit: 1,
      status: 'error',
      error: { name: 'RangeError', message: 'no', line: 1, filename: 'no.ts' },
    });
  });

  it('ends a program at the deadline of --timeout, and reports that', async () => {
    // The deadline includes the start of the sandbox: on a busy machine the program may not have begun by then.
    let logs: readonly unknown[] = [];
    for (let deadline = 1000; deadline < 100_000 && logs.length === 0; deadline *= 2) {
      const ended = await json('console.log("on it"); for (;;);', ['--timeout', String(deadline)]);
      expect(ended).toMatchObject({
        exit: 1,
        status: 'terminated',
        error: { name: 'Terminated', message: `The deadline of ${deadline} ms has passed (--timeout).` },
      });
      ({ logs } = ended);
    }
    expect(logs).toMatchObject([{ args: ['on it'] }]);
  });

  it('ends a program that exceeds --memory, and names the limit', async () => {
    const source = 'const all: unknown[] = []; for (;;) all.push(new Array(1000).fill(all.length));';
    expect(await json(source, ['--memory', '32mb'])).toMatchObject({
      exit: 1,
      status: 'memory',
      error: { name: 'MemoryError', message: expect.stringContaining(String(32 * 1024 * 1024)) },
    });
  });

  onLinux('is ended by Ctrl-C, prints what there is, and leaves no process behind', async () => {
    project.write({ 'file.ts': 'console.log("on it"); for (;;);' });
    const command = project.start(['code', 'run', 'file.ts', '--json'], env);
    const pid = command.process.pid as number;
    // Far more than the child computes before the program begins, however busy the machine is.
    const computes = () => sandboxChildren(pid).some((child) => (cpuMs(child) ?? 0) > 2000);
    // Two seconds of processor time; many processes may share the processor.
    await eventually('the loop', computes);
    const children = [...sandboxProcesses(pid), ...sandboxChildren(pid)];
    command.process.kill('SIGINT');
    const { code: exit, stdout, stderr } = await command.ended;
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'terminated',
      error: { message: 'Interrupted.' },
      logs: [{ args: ['on it'] }],
    });
    expect(stderr).toContain('Stopping the program');
    expect(children.filter(isAlive)).toEqual([]);
  });

  it('refuses invalid usage with exit code 2', async () => {
    const cases: [string, ...string[]][] = [
      ['Give a JSON array', 'file.ts', '--args', '{"a":1}'],
      ['Give a JSON array', 'file.ts', '--args', '[1'],
      ['Give a number of bytes', 'file.ts', '--memory', 'much'],
      ['Give a whole number', 'file.ts', '--timeout', 'soon'],
      ['typescript, javascript', 'file.ts', '--language', 'python'],
      ['none.ts cannot be read', 'none.ts'],
      ['missing required argument'],
    ];
    project.write({ 'file.ts': '' });
    await Promise.all(
      cases.map(async ([words, ...args]) => {
        const { code: exit, stderr } = await project.run(['code', 'run', ...args], { env });
        expect({ args, exit, stderr }).toEqual({ args, exit: 2, stderr: expect.stringContaining(words) });
      }),
    );
  });

  it('escapes control sequences in a program’s output', async () => {
    const [{ stdout, stderr }, value] = await Promise.all([
      code('console.log("\\u001b[31m"); throw new Error("\\u001b[2J")'),
      code('export default "\\u001b[31m"', [], 'value.ts'),
    ]);
    expect(stdout + stderr).not.toContain('\u001b');
    expect(value.stdout).toBe('␛[31m\n');
  });

  it('prints options and examples with --help', async () => {
    const { code: exit, stdout } = await project.run(['code', 'run', '--help'], { env });
    expect(exit).toBe(0);
    for (const told of ['--fn', '--args', '--memory', '--timeout', '--language', 'Examples:', 'Exit codes:'])
      expect(stdout).toContain(told);
  });
});
