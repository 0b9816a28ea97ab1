/** The example project in agents/ and one real run of `npm run demo`: its server, its workers, its two kills. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { listTexts, searchTexts } from '../../agents/tools/_library.ts';
import { loadProject } from '../../src/definitions/index.ts';
import { runDemo } from './run-demo.ts';

describe('agents/', () => {
  it('[definitions 2.1] loads without a problem or a warning', async () => {
    const { problems, warnings, registry } = await loadProject(process.cwd());
    expect([...problems, ...warnings]).toEqual([]);
    expect(registry.tools.get('publish_summary')).toMatchObject({ idempotent: false, quick: false });
  });

  it.each(['../tools/_library.ts', '../../package.json', '/etc/passwd', './glossary.md', ''])(
    'reads no file but the texts: %p',
    async (file) => {
      const { registry } = await loadProject(process.cwd());
      const execute = registry.tools.get('read_text')?.execute as (
        state: unknown,
        args: unknown,
      ) => Promise<unknown>;
      expect(await execute({}, { file })).toMatchObject({ status: 'error' });
    },
  );

  it('finds the line that answers a question first', async () => {
    const [first] = searchTexts(await listTexts(), 'passengers charging twice, refund');
    expect(first).toMatchObject({
      file: 'refund-policy.md',
      text: expect.stringContaining('Double charges'),
    });
  });
});

describe('npm run demo', () => {
  it('survives two killed workers and keeps its promises', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const { code, output } = await runDemo(['--scripted'], folder, { withoutService: true });
    const promises = output.match(/(✓ kept|✗ BROKEN) .*/g) ?? [];
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(promises).toHaveLength(9);
    expect(output).toMatch(/effect +follow_up fires/);
    expect(promises.join('\n')).not.toContain('BROKEN');
    expect(output).toMatch(/worker A +\d+ ms .*\n +worker B +\d+ ms /);
    expect(output).toContain(`The longest text is ${await longestText()}, with `);
    expect(readFileSync(join(folder, 'published.md'), 'utf8').trim().split('\n')).toHaveLength(1);
  }, 900_000);

  it('refuses an unknown option', async () => {
    expect(await runDemo(['--nope'], '')).toMatchObject({
      code: 2,
      output: expect.stringContaining('--nope'),
    });
  });
});

async function longestText(): Promise<string | undefined> {
  const counts = (await listTexts()).map(({ file, lines }) => ({
    file,
    words: lines.join(' ').split(/\s+/).filter(Boolean).length,
  }));
  return counts.sort((a, b) => b.words - a.words)[0]?.file;
}
