/**
 * Ids in commands may be abbreviated, and lists of threads show their topic. A store that nobody else uses, and no
 * server.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { message, ThreadDriver } from '../contract/thread-driver.ts';
import { makeChild } from './make-child.ts';
import { type CliProject, cliProjectWith } from './support.ts';

let project: CliProject;
const IDS = ['helper-0000000000000001', 'helper-0000000000000002', 'order', 'order-7'];

beforeAll(async () => {
  project = await cliProjectWith(async (store) => {
    for (const id of IDS) {
      const thread = new ThreadDriver(store, id);
      await thread.open();
      await thread.begin([message(`m-${id}`, `I am\n${id}`)], { executionId: `run-of-${id}` });
    }
    await makeChild(store, 'order-7', 'scout-0000000000000001', 'Clara');
  });
});
afterAll(() => project.remove());

const shown = async (id: string) => {
  const { code, stdout, stderr } = await project.run(['threads', 'show', id]);
  return code === 0 ? stdout.match(/^thread\s+(\S+)/m)?.[1] : stderr;
};

describe('an id prefix', () => {
  it('stands for the id if it is unambiguous', async () => {
    expect(await shown('order-')).toBe('order-7');
    expect(await shown('helper-0000000000000001')).toBe(IDS[0]);
  });

  it('that equals an id is that id', async () => {
    expect(await shown('order')).toBe('order');
  });

  it('that is ambiguous is an error that lists the ids', async () => {
    expect(await shown('helper-')).toBe(
      `InvalidRequest: More than one thread begins with "helper-": ${IDS[0]}, ${IDS[1]}. Give more characters of it.\n`,
    );
  });

  it('without a match is reported as not found', async () => {
    expect(await shown('nobody')).toContain('ThreadNotFound: Thread "nobody" is not in this store.');
  });
});

describe('other ids', () => {
  it('are abbreviated in the same way: executions, and threads in options', async () => {
    const { code, stdout } = await project.run(['runs', 'show', 'run-of-order-']);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('order-7') });
    expect((await project.run(['runs', 'show', 'run-of'])).stderr).toContain(
      'More than one execution begins with "run-of": run-of-order, ',
    );
    const list = await project.run(['threads', 'list', '--parent', 'order-', '--json']);
    expect(JSON.parse(list.stdout).threads).toMatchObject([{ id: 'scout-0000000000000001' }]);
  });
});

describe('a list of threads', () => {
  it('has the age and first text of each thread, and the name of a subagent', async () => {
    const { stdout } = await project.run(['threads', 'list']);
    expect(stdout).toMatch(/^THREAD +AGENT +STATUS +STEPS +AGE +CHANGED +PARENT +BEGINS WITH\n/);
    expect(stdout).toMatch(/^order-7 +helper +running +\d+ +\d+[smhd] +\d+[smhd] +- +I am order-7$/m);
    expect(stdout).toMatch(/^scout-0+1 .+ order-7 +Clara$/m);
    const { threads } = JSON.parse((await project.run(['threads', 'list', '--json'])).stdout);
    const found = threads.find(({ id }: { id: string }) => id === 'order');
    expect(found).toMatchObject({
      firstWords: 'I am order',
      createdAt: expect.stringMatching(/^20\d\d-.+\.\d{6}Z$/),
    });
  });
});
