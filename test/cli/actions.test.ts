/** `everthread actions …`: outcomes of calls whose worker was lost. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { call, message, openThread } from '../contract/thread-driver.ts';
import { type CliProject, cliProject, HELPER } from './support.ts';

describe('everthread actions', () => {
  let project: CliProject;
  let id: string;
  let thread: string;
  beforeAll(async () => {
    project = await cliProject(HELPER);
    const store = await openStore('sqlite:data/store.db', project.folder);
    const driver = await openThread(store);
    await driver.answer([message('a')], { content: null, toolCalls: [call('c0', 'refund')] });
    thread = driver.id;
    id = `${thread}:1:0`;
    const action = {
      id,
      kind: 'tool.call',
      name: 'refund',
      capabilities: ['money.move'],
      fingerprint: 'f',
    } as const;
    const decision = {
      effect: 'allow',
      reason: 'r',
      matchedCapabilities: [],
      capabilities: {},
      sources: {},
    } as const;
    const key = { ...driver.from, step: 1, index: 0, attempt: 'lost', idempotent: () => false };
    await store.toolCalls.begin({ ...key, action: { action, decision } });
    await driver.settleLostTool(1, 0);
    await store.close();
  });
  afterAll(() => project.remove());

  const run = (...args: string[]) => project.run(['actions', ...args]);

  it('[PL-26] lists uncertain actions, and stores a person’s statement of the outcome, once', async () => {
    const listed = await run('list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({
      actions: [{ id, name: 'refund', state: 'uncertain' }],
    });
    expect((await run('list', thread)).stdout).toMatch(/refund +uncertain .*money\.move/);
    expect(await run('reconcile', id)).toMatchObject({ code: 2 });
    expect(await run('reconcile', id, '--completed', '--note', 'in the books', '--by', 'Ada')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('it has taken effect'),
    });
    expect((await run('list')).stderr).toContain('No action is uncertain.');
    expect(JSON.parse((await run('list', '--state', 'all', '--json')).stdout)).toMatchObject({
      actions: [
        { state: 'reconciled', reconciliation: { completed: true, note: 'in the books', by: 'Ada' } },
      ],
    });
    expect(await run('reconcile', id, '--not-done')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is reconciled'),
    });
    expect(await run('reconcile', 'nobody', '--not-done')).toMatchObject({ code: 3 });
  });
});
