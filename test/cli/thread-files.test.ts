/** `everthread threads files` and `values`, over a store that nobody else uses. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openThread } from '../contract/thread-driver.ts';
import { type CliProject, cliProjectWith } from './support.ts';

const NOTE = '# Note\n\u001b[31mred\n';
const IMAGE = Uint8Array.from({ length: 1_500_000 }, (_, n) => n % 256);

let project: CliProject;
let id: string;

beforeAll(async () => {
  project = await cliProjectWith(async (store) => {
    ({ id } = await openThread(store));
    const write = (path: string, content: Uint8Array, mimeType: string) =>
      store.files.write(id, { path, content, mimeType });
    await write('/docs/note.md', new TextEncoder().encode(NOTE), 'text/markdown');
    await write('/docs/\u202etxt', new Uint8Array(0), 'text/plain');
    await write('/image.png', IMAGE, 'image/png');
    await store.values.set(id, 'plan', { steps: ['a', 'b'] });
    await store.values.set(id, 'red', '\u001b[31m');
  });
});
afterAll(() => project.remove());

const run = (...args: string[]) => project.run(['threads', ...args]);

describe('everthread threads files', () => {
  it('lists a directory, with control characters as symbols', async () => {
    const root = await run('files', id);
    expect(root.code).toBe(0);
    expect(root.stdout).toMatch(
      /^BYTES +TYPE +UPDATED +NAME\n +directory .* docs\/\n1500000 +image\/png .* image\.png\n$/,
    );
    const docs = await run('files', id, 'docs/');
    expect(docs.stdout).toContain('\\u{202e}txt\n');
    expect(docs.stdout).toMatch(/^16 +text\/markdown .* note\.md$/m);
  });

  it('prints a file to a pipe unchanged', async () => {
    expect(await run('files', id, '/docs/note.md')).toMatchObject({ code: 0, stdout: NOTE, stderr: '' });
    const command = project.start(['threads', 'files', id, '/image.png']);
    const parts: Buffer[] = [];
    // Read as bytes, because the harness reads text.
    command.process.stdout
      ?.setEncoding('latin1')
      .on('data', (text: string) => parts.push(Buffer.from(text, 'latin1')));
    expect((await command.ended).code).toBe(0);
    expect(Buffer.concat(parts).equals(IMAGE)).toBe(true);
  });

  it('prints JSON', async () => {
    const { entries } = JSON.parse((await run('files', id, '--json')).stdout);
    expect(entries.map(({ path }: { path: string }) => path)).toEqual(['/docs', '/image.png']);
    const { file } = JSON.parse((await run('files', id, 'docs/note.md', '--json')).stdout);
    expect(file).toMatchObject({ path: '/docs/note.md', size: 16, mimeType: 'text/markdown' });
  });

  it('reports a missing file, and an invalid path', async () => {
    expect(await run('files', id, '/none')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('FileNotFound'),
    });
    expect(await run('files', 'nobody')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('ThreadNotFound'),
    });
    expect(await run('files', id, '../x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('InvalidPath'),
    });
  });

  it('writes a file, from a local file or standard input', async () => {
    const from = join(project.folder, 'large.bin');
    writeFileSync(from, IMAGE);
    const written = await run('upload', id, '/up/large.bin', from);
    expect(written).toMatchObject({ code: 0, stdout: '' });
    expect(written.stderr).toContain('Wrote /up/large.bin');
    const piped = await project.run(['threads', 'upload', id, 'up/note.md', '--json'], {
      input: NOTE,
      alone: true,
    });
    expect(JSON.parse(piped.stdout).file).toMatchObject({
      ...{ path: '/up/note.md', size: 16, mimeType: 'text/markdown' },
    });
    expect((await run('files', id, '/up/note.md')).stdout).toBe(NOTE);
    const { file } = JSON.parse((await run('files', id, '/up/large.bin', '--json')).stdout);
    expect(file.size).toBe(IMAGE.length);
    expect(await run('upload', id, '/up/none', join(project.folder, 'none'))).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('cannot be read') },
    });
    expect((await run('upload', 'nowhere', '/up/none', from)).code).toBe(3);
  });
});

describe('everthread threads values', () => {
  it('lists keys and values, or prints one', async () => {
    const { stdout } = await run('values', id);
    expect(stdout).toMatch(/^KEY +UPDATED +VALUE\nplan .* {"steps":\["a","b"\]}\nred .* "\\u001b\[31m"\n$/);
    expect(JSON.parse((await run('values', id, 'plan')).stdout)).toEqual({ steps: ['a', 'b'] });
    expect((await run('values', id, 'none')).stdout).toBe('null\n');
    const { values } = JSON.parse((await run('values', id, '--json', '--after', 'plan')).stdout);
    expect(values).toEqual([{ key: 'red', value: '\u001b[31m', updatedAt: expect.stringMatching(/Z$/) }]);
  });
});
