/** One real run of `npm run demo -- research`: a family of threads, and the kill of the worker that runs it. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runDemo } from './run-demo.ts';

describe('npm run demo -- research', () => {
  it('survives a killed worker with the whole family, and keeps its promises', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    const { code, output } = await runDemo(['research', '--scripted'], folder);
    const promises = output.match(/(✓ kept|✗ BROKEN) .*/g) ?? [];
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(promises).toHaveLength(9);
    expect(output).toMatch(/KILL .* while Ana and Ben speak/);
    expect(output).toMatch(/coordinator .*idle .*\n +├─ researcher "Ana" .*\n +└─ researcher "Ben"/);
  }, 900_000);
});
