/** Projects that import the packages of the standard and nothing of ours. */
import { projectFiles } from '../../src/cli/new-project/files.ts';
import { loadProject } from '../../src/definitions/index.ts';
import * as everthread from '../../src/index.ts';
import * as standard from '../../src/standard-agents.ts';
import { SOUND, type TemporaryProject, temporaryProject } from './temporary-project.ts';

const projects: TemporaryProject[] = [];
afterAll(() => {
  for (const each of projects) each.remove();
});

/** The sample project written for the standard, with a definition of every other kind. */
const writtenFor = (specifier: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      ...SOUND,
      'agents/hooks/recent.ts': `
import { defineHook } from 'everthread';
export default defineHook({ hook: 'filter_messages', id: 'recent', execute: (_state, messages) => messages.slice(-5) });
`,
      'agents/effects/remind.ts': `
import { defineEffect } from 'everthread';
export default defineEffect('Reminds.', async () => {});
`,
      'agents/api/status.ts': `
import { defineThreadEndpoint } from 'everthread';
export default defineThreadEndpoint(async () => new Response('well'));
`,
    }).map(([path, source]) => [path, source.replaceAll("'everthread'", `'${specifier}'`)]),
  );

function load(files: Readonly<Record<string, string>>) {
  const project = temporaryProject(files);
  projects.push(project);
  return loadProject(project.folder);
}

const FOREIGN = 'throw new Error("another copy was loaded");';
const SPECIFIERS = ['@standardagents/spec', '@standardagents/builder'];

describe.each(SPECIFIERS)('[definitions 2.1] a project whose files import %s', (specifier) => {
  it('loads with a definition of every kind', async () => {
    const { registry, problems, warnings } = await load(writtenFor(specifier));
    expect(problems).toEqual([]);
    expect(warnings).toEqual([]);
    expect({
      ...{ agents: [...registry.agents.keys()], prompts: [...registry.prompts.keys()] },
      ...{ models: [...registry.models.keys()], tools: [...registry.tools.keys()] },
      ...{ hooks: [...registry.hooks.keys()], effects: [...registry.effects.keys()] },
      endpoints: [...registry.endpoints.keys()],
    }).toEqual({
      ...{
        agents: ['helper'],
        prompts: ['talk'],
        models: ['fast'],
        tools: ['run_code', 'query_subagent_status', 'search_web'],
      },
      ...{ hooks: ['recent'], effects: ['remind'], endpoints: ['status'] },
    });
  });

  it('gets this running copy, even if another is installed or types are found by paths', async () => {
    const { problems } = await load({
      ...writtenFor(specifier),
      'tsconfig.json': projectFiles('project')['tsconfig.json'] as string,
      [`node_modules/${specifier}/package.json`]: JSON.stringify({ name: specifier, main: 'index.js' }),
      [`node_modules/${specifier}/index.js`]: FOREIGN,
      'node_modules/everthread/dist/standard-agents.d.ts': FOREIGN,
    });
    expect(problems).toEqual([]);
  });

  it.each([
    [
      '_text.ts',
      `import { ProviderError } from '${specifier}';\nexport const text: string = new ProviderError('a', 'timeout').code;`,
    ],
    [
      '_text.mjs',
      `import { ProviderError } from '${specifier}';\nexport const text = new ProviderError('a', 'timeout').code;`,
    ],
    [
      '_text.cjs',
      `const { ProviderError } = require('${specifier}');\nexports.text = new ProviderError('a', 'timeout').code;`,
    ],
  ])('gets it in a helper next to a tool too: %s', async (helper, source) => {
    const tool = `
import { defineTool } from '${specifier}';
import { text } from './${helper}';
export default defineTool({ description: text, execute: async () => ({ status: 'success' }) });
`;
    const { registry, problems } = await load({
      ...writtenFor(specifier),
      'agents/tools/search_web.ts': tool,
      [`agents/tools/${helper}`]: source,
    });
    expect(problems).toEqual([]);
    expect(registry.tools.get('search_web')?.description).toBe('timeout');
  });

  it.each(['defineController', 'defineHandler'])(
    'is reported if it calls %s, which the spec does not have',
    async (name) => {
      const { problems } = await load({
        ...writtenFor(specifier),
        'agents/tools/other.ts': `import { ${name} } from '${specifier}';\nexport default ${name}(async () => 'x');`,
      });
      expect(problems).toEqual([
        {
          file: 'agents/tools/other.ts',
          line: 2,
          field: '',
          message: expect.stringContaining('is not part of the spec 0.1.0'),
        },
      ]);
    },
  );
});

describe('[definitions 2.1] the packages of the standard', () => {
  it('export the same functions as everthread', () => {
    const { defineController: _c, defineHandler: _h, ProviderError: _e, ...functions } = standard;
    const { defineAgent, definePrompt, defineModel, defineTool } = everthread;
    const { defineHook, defineEffect, defineThreadEndpoint } = everthread;
    expect(functions).toEqual({
      ...{ defineAgent, definePrompt, defineModel, defineTool, defineHook, defineEffect },
      defineThreadEndpoint,
    });
  });
});
