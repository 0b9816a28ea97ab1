import { defineTool } from 'everthread';
import { listTexts } from './_library.ts';

export default defineTool({
  description: 'Lists the texts of the handbook: file name, title and number of lines.',
  quick: true,
  async execute() {
    const texts = await listTexts();
    const rows = texts.map(({ file, title, lines }) => `${file}: ${title} (${lines.length} lines)`);
    return { status: 'success', result: rows.join('\n') };
  },
});
