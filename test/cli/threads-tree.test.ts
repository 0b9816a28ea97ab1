/** `everthread threads tree`, `show` and `list` of families, over a store that nobody else uses. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { drawBranches } from '../../src/cli/commands/thread-list.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openThread } from '../contract/thread-driver.ts';
import { makeChild } from './make-child.ts';
import { type CliProject, cliProject } from './support.ts';

let project: CliProject;
let id: string;

beforeAll(async () => {
  project = await cliProject();
  mkdirSync(join(project.folder, 'data'));
  const store = await openStore('sqlite:data/store.db', project.folder);
  ({ id } = await openThread(store));
  await makeChild(store, id, 'north', 'idle  north');
  await makeChild(store, 'north', 'deep', '\u001b[31mred');
  await makeChild(store, id, 'south');
  await store.children.setStatus('north', 'half way');
  await store.threads.terminate('south', 'enough');
  await store.close();
});
afterAll(() => project.remove());

const run = (...args: string[]) => project.run(['threads', ...args]);

describe('everthread threads tree', () => {
  it('draws a thread with its descendants, with control characters as symbols', async () => {
    const { code, stdout } = await run('tree', id);
    expect(code).toBe(0);
    const [heading, ...lines] = stdout.trimEnd().split('\n');
    expect(heading).toMatch(/^AGENT +STATUS +STEPS +STOPPED BY +REFERENCE$/);
    expect(lines.map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
      `helper  idle  0  -  ${id}`,
      '├─ scout "idle north"  idle (half way)  0  -  north',
      '│  └─ scout "␛[31mred"  idle  0  -  deep',
      '└─ scout  terminated  0  enough  south',
    ]);
  });

  it('draws the subtree of any thread', async () => {
    const { stdout } = await run('tree', 'north');
    expect(stdout.split('\n').slice(1, -1)).toEqual([
      expect.stringMatching(/^scout "idle north" .* north$/),
      expect.stringMatching(/^└─ scout .* deep$/),
    ]);
  });

  it('prints JSON, each thread after its parent', async () => {
    const { threads } = JSON.parse((await run('tree', id, '--json')).stdout);
    expect(threads).toMatchObject([
      { depth: 0, child: null, thread: { id, childCount: 2 } },
      { depth: 1, child: { name: 'idle  north', status: 'half way' }, thread: { id: 'north', parentId: id } },
      { depth: 2, thread: { id: 'deep', rootId: id } },
      { depth: 1, child: { status: 'terminated' }, thread: { id: 'south', status: 'terminated' } },
    ]);
  });

  it('reports an unknown thread', async () => {
    expect(await run('tree', 'nobody')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('ThreadNotFound'),
    });
    expect((await run('tree')).code).toBe(2);
  });

  it.each([
    [[0], ['']],
    [
      [0, 1, 2, 2, 1, 2, 3],
      ['', '├─ ', '│  ├─ ', '│  └─ ', '└─ ', '   └─ ', '      └─ '],
    ],
  ])('draws the branches of %j', (depths, branches) => {
    expect(drawBranches(depths)).toEqual(branches);
  });
});

describe('everthread threads show and list', () => {
  it('show prints the children, and the name and parent of a child', async () => {
    const { stdout } = await run('show', id);
    expect(stdout).toMatch(/^children +2, 1 of them not terminated$/m);
    const child = await run('show', 'north');
    expect(child.stdout).toMatch(/^name +idle north$/m);
    expect(child.stdout).toContain(`parent    ${id}`);
    const { children } = JSON.parse((await run('show', id, '--json')).stdout);
    expect(children).toMatchObject([{ threadId: 'north' }, { threadId: 'south' }]);
  });

  it('list shows parents if there are any', async () => {
    const { stdout } = await run('list');
    const [heading, ...lines] = stdout.trimEnd().split('\n');
    expect(heading).toMatch(/ PARENT +BEGINS WITH$/);
    expect(lines.find((line) => line.startsWith('deep'))).toMatch(/ north\b/);
    expect(lines.find((line) => line.startsWith(id))).toMatch(/ - /);
  });
});
