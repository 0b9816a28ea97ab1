/** `run_code`: a model computes with code of its own, which touches nothing (seed 000 §13). */
import { z } from 'zod';
import { brandDefinition, nameDefinition } from './brand.ts';
import { toCodeToolResult } from './code-tool-result.ts';
import { defineTool } from './define-tool.ts';

const MIB = 1024 * 1024;
const MEMORY_MIB = 64;
/** Models write endless loops, and each would keep a place of the sandbox: this deadline is the tool's, and told. */
const DEADLINE_SECONDS = 120;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What models are shown of `args`: kinds that every provider understands. Deeper values are taken as well. */
const shown = z.object({
  source: z.string().describe('The source of one ES module.'),
  language: z.enum(['typescript', 'javascript']).optional().describe('Default: typescript.'),
  args: z
    .array(z.union([scalar, z.array(scalar), z.record(z.string(), scalar)]))
    .optional()
    .describe('JSON values that the default export is called with, when it is a function.'),
});

const taken = shown.extend({ source: z.string(), args: z.array(z.unknown()).optional() });

const DESCRIPTION = [
  'Runs TypeScript or JavaScript and returns its result: for arithmetic, for working on text and data, for trying an',
  'algorithm. The source is one ES module. Export the result as default: a value, or a function (may be async), which',
  'is called with args and whose return value is the result. The answer is {"result": …, "logs": […]}: return and log',
  'only what you need. Values that JSON lacks are tagged, such as {"$bigint":"1"}, {"$map":[[key,value]]}, {"$date":"…"}.',
  'The language alone is there: no network, no files, no timers, no imports, no Node or browser APIs. console works.',
  'Types are erased and not checked. Each call starts afresh and remembers nothing.',
  `Limits: ${MEMORY_MIB} MiB of memory, ${DEADLINE_SECONDS} seconds.`,
].join(' ');

const tool = defineTool({
  description: DESCRIPTION,
  args: shown,
  idempotent: true,
  // Above the deadline, which tells more.
  timeoutMs: (DEADLINE_SECONDS + 60) * 1000,
  async execute(state, given) {
    const { source, language, args = [] } = given as z.output<typeof taken>;
    const run = state.runCode(source, { language, execute: { args }, memoryLimitBytes: MEMORY_MIB * MIB });
    const reason = `The code did not end within ${DEADLINE_SECONDS} seconds.`;
    const deadline = setTimeout(() => run.terminate(reason), DEADLINE_SECONDS * 1000);
    try {
      return toCodeToolResult(await run);
    } finally {
      clearTimeout(deadline);
    }
  },
});

export const RUN_CODE = brandDefinition({ ...nameDefinition(tool, 'run_code'), args: taken, runsCode: true });
