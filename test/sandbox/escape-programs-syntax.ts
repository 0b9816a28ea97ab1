/** Escape programs that hide imports from the lexer, and comments that mean something to the engine. */
import type { EscapeProgram } from './escape-program.ts';

export const SYNTAX: readonly EscapeProgram[] = [
  {
    name: 'sourceURL, sourceMappingURL and a thrown error',
    source: `throw new Error('x') //# sourceURL=/etc/passwd
//# sourceMappingURL=data:application/json,{}
//@ sourceURL=host.js`,
    status: 'error',
  },
  {
    name: 'a hashbang',
    source: '#!/usr/bin/env node\nexport default [import.meta.url, typeof process]',
  },
  { name: 'a html comment', source: '<!-- x\nexport default 1 // -->', status: 'link_error' },
  {
    name: 'import() where a lexer may lose its way',
    source: `
      const a = 1, g = 1;
      const say = (e) => e.name + ': ' + e.message;
      const told = [
        await (a /import('node:fs')/g).catch?.(say), await import/* */('node:fs').catch(say), await import
        ('node:fs').catch(say), await import(\`node:\${'fs'}\`).catch(say), \`\${await import('node:fs').catch(say)}\`, await (/[/]import('x')/, import('node:fs')).catch(say),
        await ((x) => x)/* ) */(import('node:fs')).catch(say), await [...[1]].map(() => import('node:fs').catch(say))[0], await import((0, 'node:fs')).catch(say)];
      if (a) /import('node:fs')/.test('x'); let n = 1, b = n++ / import('node:fs').catch(say) / 1;
      export default told`,
  },
  {
    name: 'import.meta where a lexer may lose its way',
    source: `
      const metas = [import
        .meta, import/*.*/./**/meta, (import.meta), \`\${import.meta.url}\`, /import.meta/.source, { import: { meta: 1 } }.import.meta];
      const { walk } = await import('./probe');
      export default [metas.map((m) => m.url ?? m), walk(...metas)]`,
  },
  {
    name: 'import with an escape in its name',
    source: 'export default await im\\u0070ort("node:fs")',
    status: 'link_error',
  },
  {
    name: 'import source',
    source: "import source x from './m'; export default 'LEAK'",
    options: { modules: { './m': '' } },
    status: 'link_error',
  },
  {
    name: 'import source behind comments',
    source: "import/**/source/**/x/**/from './m'; export default 'LEAK'",
    options: { modules: { './m': '' } },
    status: 'link_error',
  },
  {
    name: 'import defer',
    source: "import defer * as x from './m'; export default 'LEAK'",
    options: { modules: { './m': '' } },
    status: 'link_error',
  },
  {
    name: 'import.source()',
    source: "export default await import.source('./m')",
    options: { modules: { './m': '' } },
    status: 'link_error',
  },
];
