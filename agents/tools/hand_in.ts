/** Ends a researcher's session: its text, and the notes as a file, go to the parent. */
import { defineTool } from 'everthread';
import { z } from 'zod';

export default defineTool({
  description: 'Hands in your findings and your notes, which ends your work until you are asked again.',
  args: z.object({
    findings: z.string().min(1).describe('What you have found, with its quotations, in a few sentences'),
    notes: z
      .string()
      .regex(/^\/attachments\/[\w.-]+\.md$/)
      .describe('Where to keep your notes, such as /attachments/refunds.md'),
  }),
  // Writing the same file again is the same as writing it once.
  idempotent: true,
  async execute(state, { findings, notes }) {
    const read = (state.execution?.messageHistory ?? []).filter(({ name }) => name === 'read_text');
    const sources = read.map(({ content }) => content ?? '').join('\n\n');
    await state.writeFile(
      notes,
      `# Findings\n\n${findings}\n\n# What was read\n\n${sources}\n`,
      'text/markdown',
    );
    return { status: 'success', result: 'Handed in.' };
  },
});
