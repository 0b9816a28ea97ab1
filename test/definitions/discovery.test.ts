/** Runs inside Jest's own module context, where authors' files come from another realm: that is part of the test. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openaiCompatible } from 'everthread/models';
import { scriptedModel } from 'everthread/testing';
import { formatProblems, isDefinition, loadProject } from '../../src/definitions/index.ts';
import { SOUND, type TemporaryProject, temporaryProject } from './temporary-project.ts';

const projects: TemporaryProject[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

function projectWith(files: Readonly<Record<string, string>> = {}, options = {}): TemporaryProject {
  const project = temporaryProject({ ...SOUND, ...files }, options);
  projects.push(project);
  return project;
}

const load = (files: Readonly<Record<string, string>> = {}) => loadProject(projectWith(files).folder);

const toolFile = (description: string, before = '') => `
import { defineTool } from 'everthread';
${before}
export default defineTool({ description: ${description}, execute: async () => ({ status: 'success' }) });
`;

describe('[definitions 2.1] discovery', () => {
  it('loads a project as created by npm init: type commonjs, everthread not installed', async () => {
    const { registry, problems, warnings } = await load();
    expect(problems).toEqual([]);
    expect(warnings).toEqual([]);
    expect([...registry.agents.keys()]).toEqual(['helper']);
    expect([...registry.prompts.keys()]).toEqual(['talk']);
    expect([...registry.models.keys()]).toEqual(['fast']);
    expect([...registry.tools.keys()]).toEqual(['run_code', 'query_subagent_status', 'search_web']);
    expect(isDefinition(registry.tools.get('search_web'))).toBe(true);
  });

  it('accepts the built-in tools in prompts, and reserves their names', async () => {
    const prompt = SOUND['agents/prompts/talk.ts'] as string;
    const listed = {
      'agents/prompts/talk.ts': prompt.replace("['search_web']", "['search_web', 'run_code']"),
    };
    expect((await load(listed)).problems).toEqual([]);
    expect(
      (await load({ ...listed, 'agents/tools/run_code.ts': toolFile("'Runs.'") })).problems,
    ).toMatchObject([
      { file: 'agents/tools/run_code.ts', message: "'run_code' is already the name of a built-in tool" },
    ]);
  });

  it.each(['zod', 'zod-lowest'])(
    "describes and parses the arguments of a project's own copy of %s",
    async (ownZod) => {
      const { registry, problems } = await loadProject(projectWith({}, { ownZod }).folder);
      expect(problems).toEqual([]);
      const tool = registry.tools.get('search_web');
      expect(tool?.parameters).toEqual({
        type: 'object',
        properties: {
          query: { type: 'string' },
          limit: { type: 'number', default: 5, description: 'How many' },
        },
        required: ['query'],
        additionalProperties: false,
      });
      expect(tool?.args?.safeParse({ query: 'x' })).toEqual({
        success: true,
        data: { query: 'x', limit: 5 },
      });
    },
  );

  const named = `
import { z } from 'zod';
import { defineTool } from 'everthread';
const item = z.object({ id: z.string() }).meta({ id: 'item' });
const other = z.string().register(z.globalRegistry, { id: 'other', description: 'Another' });
export default defineTool({
  description: 'Buys.', args: z.object({ item, other, again: item }), execute: async () => 'bought',
});
`;
  const required = `
const { z } = require('zod');
const { defineTool } = require('everthread');
const price = z.number().meta({ id: 'price' });
module.exports = defineTool({ description: 'Pays.', args: z.object({ price }), execute: async () => 'paid' });
`;

  it.each(['zod', 'zod-lowest'])(
    'loads schemas with ids of %s as often as asked, in turn and at once',
    async (ownZod) => {
      const files = { 'agents/tools/buys.ts': named, 'agents/tools/pays.cjs': required };
      const { folder } = projectWith(files, { ownZod });
      const first = await loadProject(folder);
      const later = await Promise.all([loadProject(folder, { fresh: true }), loadProject(folder)]);
      for (const { problems, registry } of [first, ...later]) {
        expect(problems).toEqual([]);
        expect(registry.tools.get('buys')?.parameters).toMatchObject({
          properties: { other: { description: 'Another' } },
        });
      }
    },
  );

  it('resolves imports without extension, enums, tsconfig paths and nearby helpers', async () => {
    const { registry, problems, files } = await load({
      'tsconfig.json': '{ "compilerOptions": { "paths": { "~lib/*": ["./lib/*"] } } } // a comment',
      'lib/words.ts': "export enum Word { Search = 'Searches' }",
      'agents/tools/_shared.ts':
        "import { Word } from '~lib/words';\nexport const described: string = Word.Search + '!';",
      'agents/tools/search_web.ts': toolFile('described', "import { described } from './_shared';"),
    });
    expect(problems).toEqual([]);
    expect(registry.tools.get('search_web')?.description).toBe('Searches!');
    expect(files).toEqual(expect.arrayContaining(['agents/tools/_shared.ts', 'lib/words.ts']));
  });

  it.each([
    ['.js with import', 'search_web.js', toolFile("'Searches.'")],
    [
      '.js with require',
      'search_web.js',
      "const { defineTool } = require('everthread');\nconst { text } = require('./_text');\nmodule.exports = defineTool({ description: text, execute: async () => ({ status: 'success' }) });",
    ],
    ['.mjs', 'search_web.mjs', toolFile("'Searches.'")],
    ['.mts', 'search_web.mts', toolFile("'Searches.' as string")],
  ])('reads %s', async (_title, file, source) => {
    const project = projectWith({
      [`agents/tools/${file}`]: source,
      'agents/tools/_text.js': "exports.text = 'Searches.';",
    });
    rmSync(join(project.folder, 'agents/tools/search_web.ts'));
    const { registry, problems } = await loadProject(project.folder);
    expect(problems).toEqual([]);
    expect(registry.tools.get('search_web')?.description).toBe('Searches.');
  });

  it('gives authors the modules of this running copy, not a second copy', async () => {
    const modelFile = (name: string, specifier: string) => `
import { defineModel } from 'everthread';
import { ${name} } from '${specifier}';
export default defineModel({ name: '${name.toLowerCase()}', model: 'x', provider: ${name} as never });
`;
    const { registry, problems } = await load({
      'agents/models/one.ts': modelFile('openaiCompatible', 'everthread/models'),
      'agents/models/two.ts': modelFile('scriptedModel', 'everthread/testing'),
    });
    expect(problems).toEqual([]);
    expect(registry.models.get('openaicompatible')?.provider).toBe(openaiCompatible);
    expect(registry.models.get('scriptedmodel')?.provider).toBe(scriptedModel);
  });

  it('ignores helpers, declarations, tests, notes and deeper folders', async () => {
    const broken = 'this is not TypeScript';
    const { problems } = await load({
      'agents/tools/_helper.ts': broken,
      'agents/tools/types.d.ts': broken,
      'agents/tools/search_web.test.ts': broken,
      'agents/tools/CLAUDE.md': broken,
      'agents/tools/AGENTS.ts': broken,
      'agents/tools/data.json': broken,
      'agents/tools/deeper/other.ts': broken,
    });
    expect(problems).toEqual([]);
  });

  it('evaluates a helper once for all files of one load', async () => {
    const shared = "import { ids } from './_ids';";
    const { registry } = await load({
      'agents/tools/_ids.ts': 'let next = 0;\nexport const ids = () => String(next++);',
      'agents/tools/first.ts': toolFile('ids()', shared),
      'agents/tools/second.ts': toolFile('ids()', shared),
    });
    expect(registry.tools.get('first')?.description).toBe('0');
    expect(registry.tools.get('second')?.description).toBe('1');
  });

  it('reads files and helpers again after a change', async () => {
    const project = projectWith({
      'agents/tools/_text.ts': "export const text = 'old';",
      'agents/tools/search_web.ts': toolFile('text', "import { text } from './_text';"),
    });
    const describe = async () =>
      (await loadProject(project.folder, { fresh: true })).registry.tools.get('search_web')?.description;
    expect(await describe()).toBe('old');
    project.write({ 'agents/tools/_text.ts': "export const text = 'new';" });
    expect(await describe()).toBe('new');
  });
});

describe('[definitions 2.1] problems of a project', () => {
  it('explains what to create if there is no agents folder', async () => {
    const project = projectWith();
    rmSync(join(project.folder, 'agents'), { recursive: true });
    const { problems } = await loadProject(project.folder);
    expect(formatProblems(problems)).toMatch(/no agents\/ folder.*agents\/agents.*everthread new/);
  });

  it('reports all problems of all files at once, with file, field and line', async () => {
    const { problems } = await load({
      'agents/agents/helper.ts': `
import { defineAgent } from 'everthread';

export default defineAgent({ name: 'helper', sidA: { prompt: 'talk' } } as never);
`,
      'agents/models/fast.ts': `
import { defineModel } from 'everthread';
export default defineModel({ name: 'fast', fallbacks: ['slow'], model: 'x', provider: (() => {}) as never });
`,
      'agents/tools/search_web.ts': toolFile("''"),
    });
    expect(problems).toEqual([
      { file: 'agents/agents/helper.ts', line: 4, field: 'sideA', message: 'is required' },
      {
        file: 'agents/agents/helper.ts',
        line: 4,
        field: 'sidA',
        message: "is not a field. Did you mean 'sideA'?",
      },
      {
        file: 'agents/tools/search_web.ts',
        line: 4,
        field: 'description',
        message: 'must not be empty',
      },
      {
        file: 'agents/models/fast.ts',
        field: 'fallbacks[0]',
        message: "names a model 'slow', which does not exist.",
      },
    ]);
    expect(formatProblems(problems)).toBe(`agents/agents/helper.ts
  - line 4: sideA is required
  - line 4: sidA is not a field. Did you mean 'sideA'?

agents/tools/search_web.ts
  - line 4: description must not be empty

agents/models/fast.ts
  - fallbacks[0] names a model 'slow', which does not exist.`);
  });

  it.each<[string, string, object]>([
    [
      'a syntax error',
      'const a = 1;\nconst b = ;\n',
      { line: 2, message: 'is not valid TypeScript or JavaScript: Unexpected token (column 10)' },
    ],
    [
      'a missing file',
      "\nimport { a } from './nothing';\nexport default a;",
      { line: 2, message: "imports './nothing', which does not exist" },
    ],
    [
      'a missing package',
      "import a from 'no-such-package';\nexport default a;",
      { line: 1, message: "imports 'no-such-package', which does not exist; is it installed?" },
    ],
    [
      'an error of its own',
      "\n\nthrow new Error('no luck');",
      { line: 3, message: 'could not be loaded: no luck' },
    ],
    [
      'a definition of another kind',
      SOUND['agents/prompts/talk.ts'] ?? '',
      { message: 'contains a prompt: move it to agents/prompts/' },
    ],
  ])('reports %s as a problem of the file', async (_title, source, expected) => {
    const { problems, registry } = await load({ 'agents/tools/search_web.ts': source });
    expect(problems).toEqual([{ file: 'agents/tools/search_web.ts', ...expected }]);
    expect([...registry.agents.keys()]).toEqual(['helper']);
  });

  it.each([
    ['no default export', 'export const a = 1;', 'it has no default export'],
    ['nothing', '', 'it has no default export'],
    [
      'another default export',
      "export default { description: 'x' };",
      'its default export is not a definition',
    ],
  ])('treats a file with %s as a helper, with a hint', async (_title, source, why) => {
    const { registry, problems, warnings } = await load({ 'agents/tools/client.ts': source });
    expect(problems).toEqual([]);
    const message = `is treated as a helper, because ${why}. To define a tool, export default defineTool({ … }); for a helper, start its name with _`;
    expect(warnings).toEqual([{ file: 'agents/tools/client.ts', message }]);
    expect(registry.tools.has('client')).toBe(false);
  });

  it.each([
    ['api', 'endpoint', 'export const a = 1;', 'it has no default export'],
    ['agents', 'agent', 'export default 7;', 'its default export is not a definition'],
  ])(
    'does not treat a file of %s as a helper, since nothing else would report it missing',
    async (folder, kind, source, why) => {
      const { problems, warnings } = await load({
        [`agents/${folder}/hello.ts`]: source,
        [`agents/${folder}/_paging.ts`]: 'export const a = 1;',
      });
      expect(problems).toContainEqual({
        file: `agents/${folder}/hello.ts`,
        message: expect.stringContaining(
          `is not a valid ${kind}, because ${why}. To define an ${kind}, export default define`,
        ),
      });
      expect(warnings).toEqual([]);
    },
  );

  it('reports each folder of another version once, by name', async () => {
    const tool = toolFile("'x'");
    const { problems, warnings } = await load({
      'agents/packed/some/index.ts': tool,
      'agents/packed/other/index.ts': tool,
      'agents/handlers/route.ts': tool,
      'agents/providers/house.ts': 'export const house = 1;',
    });
    expect(problems).toEqual([]);
    expect(warnings.map(({ file }) => file).sort()).toEqual(['agents/handlers/', 'agents/packed/']);
    expect(warnings.find(({ file }) => file === 'agents/packed/')?.message).toMatch(
      /^is not read: packed agents are not/,
    );
  });

  it('hints at folders that are not searched, except those of helpers and routes', async () => {
    const { registry, problems, warnings } = await load({
      'agents/tools/shop/refund.ts': toolFile("'x'"),
      'agents/tools/_shop/client.ts': 'export const a = 1;',
      'agents/tools/notes/README.md': 'Notes.',
      'agents/api/orders/_status.ts': 'export const a = 1;',
    });
    expect([...problems, ...registry.tools.keys()]).toEqual([
      'run_code',
      'query_subagent_status',
      'search_web',
    ]);
    expect(warnings.filter(({ file }) => file.endsWith('/'))).toEqual([
      {
        file: 'agents/tools/shop/',
        message:
          'is not searched: definitions must be in agents/tools/ itself. Move them there; if it holds only helpers, start its name with _',
      },
    ]);
  });

  it('reports a broken helper once, in its own file', async () => {
    const shared = "import { text } from './_text';";
    const { problems } = await load({
      'agents/tools/_text.ts': '\nexport const text = ;',
      'agents/tools/first.ts': toolFile('text', shared),
      'agents/tools/search_web.ts': toolFile('text', shared),
    });
    expect(problems).toEqual([expect.objectContaining({ file: 'agents/tools/_text.ts', line: 2 })]);
  });

  it('reports a tool file name that is not snake_case, and a name claimed by two files', async () => {
    const { problems } = await load({
      'agents/tools/search-news.ts': toolFile("'x'"),
      'agents/prompts/twin.ts': SOUND['agents/prompts/talk.ts'] ?? '',
    });
    expect(problems).toEqual([
      {
        file: 'agents/prompts/twin.ts',
        field: 'name',
        message: "'talk' is already the name of the prompt in agents/prompts/talk.ts",
      },
      { file: 'agents/tools/search-news.ts', message: expect.stringContaining('is not snake_case') },
    ]);
  });

  it('reports an unreadable tsconfig.json', async () => {
    const { problems } = await load({ 'tsconfig.json': '{ "extends": "./nothing.json" }' });
    expect(problems).toEqual([
      { file: 'tsconfig.json', message: expect.stringContaining('could not be read') },
    ]);
  });

  it('warns about a misspelt folder name', async () => {
    const { warnings } = await load({ 'agents/tool/search_news.ts': toolFile("'x'") });
    expect(warnings).toEqual([{ file: 'agents/tool/', message: "is not read. Did you mean 'tools'?" }]);
  });
});
