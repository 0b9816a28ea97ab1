/** `everthread threads effects`, over a store that nobody else uses. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dueText } from '../../src/cli/commands/thread-effects.ts';
import { openThread } from '../contract/thread-driver.ts';
import { type CliProject, cliProjectWith } from './support.ts';

let project: CliProject;
let id: string;

beforeAll(async () => {
  project = await cliProjectWith(async (store) => {
    ({ id } = await openThread(store));
    const schedule = (effect: string, delayMs: number, args = {}) =>
      store.effects.schedule(id, { id: effect, name: 'remind', args, delayMs });
    await schedule('later', 7_500_000, { text: '\u001b[31mred' });
    await schedule('sooner', 3_600_000 + 90_000);
  });
});
afterAll(() => project.remove());

const run = (...args: string[]) => project.run(['threads', 'effects', ...args]);

describe('everthread threads effects', () => {
  it('lists waiting effects, next due first, with control characters as symbols', async () => {
    const { code, stdout } = await run(id);
    expect(code).toBe(0);
    const [heading, first, second] = stdout.split('\n');
    expect(heading).toMatch(/^ID +NAME +DUE +AT +ARGUMENTS$/);
    expect(first).toMatch(/^sooner +remind +in 1 h 1 min +\d{4}-\d\d-\d\dT[\d:.]+Z +{}$/);
    expect(second).toMatch(/^later +remind +in 2 h [45] min .* {"text":"\\u001b\[31mred"}$/);
  });

  it('prints JSON', async () => {
    const { effects } = JSON.parse((await run(id, '--json')).stdout);
    expect(effects).toMatchObject([
      {
        id: 'sooner',
        name: 'remind',
        args: {},
        scheduledAt: expect.stringMatching(/Z$/),
        createdAt: expect.stringMatching(/Z$/),
      },
      { id: 'later' },
    ]);
  });

  it('cancels a waiting effect, once', async () => {
    const { code, stdout } = await run('cancel', id, 'later', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([0, { threadId: id, effectId: 'later', cancelled: true }]);
    expect(await run('cancel', id, 'later')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('EffectNotFound'),
    });
    expect((await run('cancel', id, 'sooner')).stderr).toContain(`Cancelled effect sooner of thread ${id}.`);
    expect(await run(id)).toMatchObject({ code: 0, stdout: '', stderr: 'No pending effects.\n' });
  });

  it('reports an unknown thread or effect', async () => {
    for (const args of [['nobody'], ['cancel', 'nobody', 'x']]) {
      expect(await run(...args)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('ThreadNotFound'),
      });
    }
    expect((await run()).code).toBe(2);
    expect((await run('cancel', id)).code).toBe(2);
  });

  it.each([
    [0, 'now'],
    [-900, 'now'],
    [59_999, 'in 59 s'],
    [3_600_000, 'in 1 h'],
    [90_061_000, 'in 1 d 1 h'],
    [-125_000, '2 min 5 s late'],
  ])('prints %d ms as %s', (milliseconds, words) => {
    expect(dueText(milliseconds)).toBe(words);
  });
});
