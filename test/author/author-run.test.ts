/** Which author code is running: known by its async context, also if it is called from a child of the sandbox. */
import { describe, expect, it } from '@jest/globals';
import {
  type AuthorRun,
  currentAuthorRun,
  listenToAuthorRuns,
  runAuthorCode,
  runningAuthorRuns,
} from '../../src/author/guard/author-run.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { closeAfterTest } from '../support/runtime.ts';

const runOf = (name: string, more: Partial<AuthorRun> = {}): AuthorRun => ({
  code: 'tool',
  name,
  threadId: `thread of ${name}`,
  work: `work of ${name}`,
  ...more,
});

/** Runs that earlier test files may have left behind: they are ignored. */
const strangers = new Set(runningAuthorRuns());
const own = () => [...runningAuthorRuns()].filter((run) => !strangers.has(run));

describe('author code', () => {
  it('is attributed while it runs, and afterwards for what it left running', async () => {
    const left = Promise.withResolvers<AuthorRun | undefined>();
    await runAuthorCode(runOf('pay'), async () => {
      await null;
      expect([currentAuthorRun(), ...own()]).toMatchObject([{ name: 'pay' }, { name: 'pay' }]);
      setTimeout(() => left.resolve(currentAuthorRun()));
    });
    expect([currentAuthorRun(), ...own()]).toEqual([undefined]);
    expect(await left.promise).toMatchObject({ name: 'pay' });
  });

  it('belongs to the work of the calling code, under its own name', async () => {
    const heard: string[] = [];
    const tell = (what: string) => (run: AuthorRun) =>
      heard.push(`${what} ${run.name}, ${run.threadId}, ${run.work}`);
    const stop = listenToAuthorRuns({ begin: tell('begin'), end: tell('end') });
    const hook = runOf('greet', { code: 'hook' });
    await runAuthorCode(runOf('pay'), () => runAuthorCode(hook, () => undefined));
    stop();
    await runAuthorCode(hook, () => undefined);
    expect(heard).toEqual([
      'begin pay, thread of pay, work of pay',
      'begin greet, thread of pay, work of pay',
      'end greet, thread of pay, work of pay',
      'end pay, thread of pay, work of pay',
    ]);
  });

  it('called by a program in the sandbox belongs to its run, whoever used the process before', async () => {
    const sandbox = createSandbox({ size: 1 });
    closeAfterTest(() => sandbox.close());
    const names: (string | undefined)[] = [];
    const tell = () => names.push(currentAuthorRun()?.name) as never;
    const program = 'export default async () => { await host(); report(1); await host(); };';
    for (const name of ['first', 'second', 'third']) {
      await runAuthorCode(runOf(name), async () => {
        const run = sandbox.scope().runCode(program, { globals: { host: tell }, report: tell });
        expect((await run).status).toBe('success');
      });
    }
    expect(names).toEqual(['first', 'second', 'third'].flatMap((name) => [name, name, name]));
  });
});
