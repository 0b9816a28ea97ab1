/** The built-in tool `run_code`: how prompts name it, what it runs, and what a model reads of the end of a run. */
import { describe, expect, it } from '@jest/globals';
import type {
  CodeExecution,
  CodeExecutionOptions,
  CodeExecutionResult,
} from '../../src/core/author/code-execution.ts';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import type { ToolResult } from '../../src/core/message/message.ts';
import { BUILT_IN_TOOLS } from '../../src/definitions/built-in-tool.ts';
import { CODE_RESULT_BYTES, toCodeToolResult } from '../../src/definitions/code-tool-result.ts';
import { ownToolNames, registryFrom } from '../../src/definitions/index.ts';
import { agent, model, problemsOf, project, prompt, tool } from './sample.ts';

const base = { reports: [], logs: [], durationMs: 1 } as const;
const log = (level: 'log' | 'warn', ...args: unknown[]) => ({ level, args, timestamp: 0 });
const succeeded = (fields: Partial<CodeExecutionResult>) =>
  toCodeToolResult({ ...base, status: 'success', ...fields });

describe('the built-in tool run_code', () => {
  it('is in every registry under its name, and can be listed by a prompt', () => {
    const registry = registryFrom(project({ prompts: [prompt({ tools: ['run_code'] })] }));
    expect(registry.tools.get('run_code')).toMatchObject({
      name: 'run_code',
      idempotent: true,
      runsCode: true,
    });
    expect(ownToolNames(registry)).toEqual([]);
  });

  it.each([
    [
      'tool',
      { tools: { run_code: tool() } },
      "tools.run_code: 'run_code' is already the name of a built-in tool",
    ],
    [
      'prompt',
      { prompts: [prompt(), prompt({ name: 'run_code' })] },
      "prompts.run_code.name: 'run_code' is already the name of a built-in tool",
    ],
    [
      'agent',
      { agents: [agent({ name: 'run_code' })] },
      "agents.run_code.name: 'run_code' is already the name of a built-in tool",
    ],
  ])('reserves its name: a %s cannot take it', (_kind, parts, problem) => {
    expect(problemsOf(() => registryFrom(project(parts)))).toEqual([problem]);
  });

  it('leaves its name to models, whose names are separate', () => {
    expect(
      problemsOf(() => registryFrom(project({ models: [model(), model({ name: 'run_code' })] }))),
    ).toEqual([]);
  });

  it('is described to models in schema kinds that every provider accepts', () => {
    const { description, parameters } = BUILT_IN_TOOLS.get('run_code') ?? {};
    expect(description).toContain('no network, no files, no timers');
    expect(description).toContain('64 MiB');
    expect(parameters).toMatchObject({ required: ['source'], additionalProperties: false });
    expect(JSON.stringify(parameters)).not.toMatch(/\{\}|\$ref|\$defs/);
  });

  it('runs the source only: no imports, no globals, the arguments for the default export', async () => {
    const given: [string, CodeExecutionOptions | undefined][] = [];
    const result: CodeExecutionResult = { ...base, status: 'success', result: 42 };
    const runCode = (source: string, options?: CodeExecutionOptions) => {
      given.push([source, options]);
      return Object.assign(Promise.resolve(result), {
        terminate: () => undefined,
        begun: Promise.resolve(true),
      }) as unknown as CodeExecution;
    };
    const { args, execute } = BUILT_IN_TOOLS.get('run_code') ?? {};
    const parsed = args?.safeParse({ source: 'x', args: [{ deep: [{ er: [1] }] }] });
    if (!parsed?.success) throw new Error('refused');
    const run = execute as unknown as (state: Partial<ThreadState>, args: unknown) => Promise<ToolResult>;
    expect(await run({ runCode }, parsed.data)).toEqual({ status: 'success', result: '{"result":42}' });
    const expected = { execute: { args: [{ deep: [{ er: [1] }] }] }, memoryLimitBytes: 64 * 1024 * 1024 };
    expect(given).toEqual([['x', expected]]);
  });
});

describe('the end of a run as a result for the model', () => {
  it('holds the value, and the console output if any', () => {
    expect(succeeded({ result: { a: 1n } })).toEqual({
      status: 'success',
      result: '{"result":{"a":{"$bigint":"1"}}}',
    });
    expect(succeeded({})).toEqual({ status: 'success', result: '{}' });
    const logs = [log('log', 'a', { b: 1 }), log('warn', 2)];
    expect(succeeded({ result: null, logs }).result).toBe(
      JSON.stringify({ result: null, logs: ['a {"b":1}', 'warn: 2'] }),
    );
  });

  it('has status, error, location, and the end of the console', () => {
    const error = { name: 'TypeError', message: 'x is not a function', line: 3, column: 9 };
    const logs = [log('log', 'before'), log('warn', 'careful')];
    expect(toCodeToolResult({ ...base, status: 'error', error, logs })).toEqual({
      status: 'error',
      error: 'error: TypeError: x is not a function (line 3, column 9)\nConsole:\nbefore\nwarn: careful',
    });
    expect(
      toCodeToolResult({ ...base, status: 'memory', error: { name: 'MemoryError', message: 'too much' } })
        .error,
    ).toBe('memory: MemoryError: too much');
  });

  it('does not advise a model to pass modules, which it cannot', () => {
    const error = {
      name: 'LinkError',
      message: 'Give it in options.imports.',
      specifier: 'fs',
      line: 1,
      column: 16,
    };
    expect(toCodeToolResult({ ...base, status: 'link_error', error }).error).toBe(
      "link_error: LinkError: Cannot import 'fs': imports are not available here. (line 1, column 16)",
    );
  });

  it('reports a result too large for a model', () => {
    const text = 'x'.repeat(CODE_RESULT_BYTES);
    expect(succeeded({ result: text })).toEqual({
      status: 'error',
      error: `The result is larger than ${CODE_RESULT_BYTES} bytes; return less.`,
    });
    expect(succeeded({ result: text.slice(1000) }).status).toBe('success');
  });

  it('keeps the newest of a long console, and reports the omission', () => {
    const logs = Array.from({ length: 1000 }, (_, index) => log('log', `entry ${index} ${'.'.repeat(100)}`));
    const { logs: lines } = JSON.parse(succeeded({ result: 1, logs }).result as string) as { logs: string[] };
    expect(lines[0]).toBe(`(${1001 - lines.length} earlier entries left out)`);
    expect(lines.at(-1)).toMatch(/^entry 999 /);
    expect(lines.length).toBeGreaterThan(100);
  });

  it('truncates a long line without formatting the rest', () => {
    const shared = Array.from({ length: 1000 }, () => 'y'.repeat(10));
    const args = Array.from({ length: 100_000 }, () => shared);
    const { logs: lines } = JSON.parse(succeeded({ logs: [log('log', ...args)] }).result as string) as {
      logs: string[];
    };
    expect(lines).toEqual([expect.stringMatching(/^\(a large value\).*…$/)]);
    expect((lines[0] as string).length).toBeLessThan(2100);
  });
});
