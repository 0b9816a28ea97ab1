/** `everthread runs …` and `threads tail --as run`, over a store that nobody else uses. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { call, message, openThread } from '../contract/thread-driver.ts';
import { type CliProject, cliProjectWith } from './support.ts';

let project: CliProject;
let id: string;

beforeAll(async () => {
  project = await cliProjectWith(async (store) => {
    const thread = await openThread(store);
    id = thread.id;
    thread.executionId = 'run-a';
    const ref = await thread.beginCall([message('a')]);
    await thread.commit(ref, { toolCalls: [call('c0', 'look', '{"password":"hunter2"}')] });
    await thread.runTool(ref.step, 0);
    await thread.rest('idle', { reason: 'stop_on_response' });
    thread.executionId = 'run-b';
    thread.afterStep = 1;
    await thread.answer([message('b')], { content: 'done' });
    await thread.rest('failed');
  });
});
afterAll(() => project.remove());

const run = (...args: string[]) => project.run(['runs', ...args]);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

describe('everthread runs', () => {
  it('[PL-24] list shows executions of all threads, latest first, by state and thread', async () => {
    const { runs } = await json('list');
    expect(runs.map((one: { id: string; state: string }) => [one.id, one.state])).toEqual([
      ['run-b', 'failed'],
      ['run-a', 'completed'],
    ]);
    expect((await json('list', '--state', 'completed', '--thread', id)).runs).toHaveLength(1);
    expect((await json('list', '--before', 'run-b')).runs).toMatchObject([{ id: 'run-a' }]);
    expect((await run('list', '--limit', '1')).stderr).toContain('--before run-b shows those after them');
    expect((await json('list', '--before', 'run-a')).runs).toEqual([]);
    const { stdout } = await run('list');
    expect(stdout).toMatch(/^RUN +THREAD +AGENT +STATE +STARTED +TOOK +REASON\n/);
    expect(stdout).toMatch(/run-a +thread-\S+ +helper +completed .* stop_on_response/);
  });

  it('show prints the events of a run, and tail --as run those of its thread', async () => {
    const { stdout } = await run('show', 'run-a');
    expect(stdout).toMatch(/ 1 {2}task\.status +Task is working/);
    expect(stdout).toMatch(/action\.started +look: started/);
    const lines = (await run('show', 'run-b', '--json')).stdout.trim().split('\n');
    const shown = lines.map((line) => JSON.parse(line));
    expect(shown.map(({ event }) => event.final).indexOf(true)).toBe(shown.length - 1);
    const tailed = await project.run([
      'threads',
      'tail',
      id,
      '--as',
      'run',
      '--no-follow',
      '--json',
      '--after',
      shown[0].cursor,
    ]);
    expect(tailed.stdout.trim().split('\n')).toEqual(lines.slice(1));
  });

  it('an unknown run ends with 3 and a hint', async () => {
    const { code, stderr } = await run('show', 'nowhere');
    expect(code).toBe(3);
    expect(stderr).toMatch(/ExecutionNotFound: .*"nowhere".*everthread runs list/);
  });

  it('[PL-23] report is redacted by default; replay and diff read it', async () => {
    const file = join(project.folder, 'a.json');
    expect((await run('report', 'run-a', '--out', file)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain('hunter2');
    expect((await run('report', 'run-a', '--no-redact')).stdout).toContain('hunter2');
    const replayed = await run('replay', file, '--type', 'action.completed');
    expect(replayed.stdout).toMatch(/^\S+ +\d+ {2}action\.completed +look is done\n$/);
    const other = join(project.folder, 'b.json');
    writeFileSync(other, (await run('report', 'run-b')).stdout);
    expect(await run('diff', file, file)).toMatchObject({ code: 0 });
    const { code, stdout } = await run('diff', file, other);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^- action\.started/m);
    expect(await run('replay', join(project.folder, 'nowhere.json'))).toMatchObject({ code: 2 });
  });
});
