/**
 * How a thread's workflow handles the outcome of an activity that has made several steps (core/thread/step-loop.ts),
 * activation by activation.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const PROGRAM = join(import.meta.dirname, '..', 'support', 'loop-program.ts');

it('is judged by its last step, and left to the store if a stop arrives in the same activation', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', PROGRAM]);
  // With the ordinals of steps: each activity has 22.
  expect(JSON.parse(stdout)).toEqual([
    'modelStep 0',
    // The third step is known, and calls a tool.
    'runTool',
    'modelStep 22',
    // The outcome of the sixth step is unknown: it is asked for again under its ordinal.
    'modelStep 24',
    // The activity has stored the end of the turn.
    'nothing',
    'modelStep 44',
    // The store has what exists of the steps, and ends the execution as stopped.
    'commitStatus',
    'nothing',
    'modelStep 67',
  ]);
});
