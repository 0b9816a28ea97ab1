/**
 * How a thread's workflow handles the step into which a call has gone on (workflows/step-ahead.ts), activation by
 * activation.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const PROGRAM = join(import.meta.dirname, '..', 'support', 'ahead-program.ts');

it('is the next step of the loop, and dropped if a stop arrives in the same activation', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', PROGRAM]);
  expect(JSON.parse(stdout)).toEqual([
    'modelStep',
    'runTool',
    // The second step is known, and calls a tool.
    'runTool',
    // The third step does not begin: the store ends the execution, and has what exists of that step.
    'commitStatus',
    'nothing',
    'modelStep',
  ]);
});
