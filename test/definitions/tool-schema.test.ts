import { z } from 'zod';
import * as mini from 'zod/mini';
import * as lowest from 'zod-lowest';
import { checkArguments, toParameters } from '../../src/definitions/tool-schema.ts';

const paths = (schema: unknown) => checkArguments(schema, 'args').map(({ field }) => field);

/** `levels` containers around a string. */
const nested = (levels: number): z.ZodType => (levels === 0 ? z.string() : z.array(nested(levels - 1)));

describe('[definitions 6.3] tool schema sent to models', () => {
  it('closes every object, also in lists, unions, records and definitions', () => {
    const leaf = z.object({ a: z.string() });
    const schema = z.object({
      list: z.array(leaf),
      either: z.union([leaf, z.null()]),
      byName: z.record(z.string(), leaf),
      open: z.looseObject({ b: z.string() }),
      shared: leaf.meta({ id: 'test_shared_leaf' }),
    });
    const text = JSON.stringify(toParameters(schema));
    expect(text.match(/"type":"object"/g)).toHaveLength(7);
    expect(text.match(/"additionalProperties":false/g)).toHaveLength(6);
  });

  it('keeps the value schema of a record and drops that of its keys', () => {
    const { properties } = toParameters(z.object({ counts: z.record(z.string(), z.number()) }));
    expect(properties).toEqual({ counts: { type: 'object', additionalProperties: { type: 'number' } } });
  });

  const digit = { type: 'number' };
  const keys = z.enum(['a', 'b']);
  const all = { required: ['a', 'b'] };
  const oldRecord = lowest.record(lowest.enum(['a', 'b']), lowest.number());
  const records: Readonly<Record<string, [unknown, object]>> = {
    'an enum': [z.object({ record: z.record(keys, z.number()) }), all],
    literals: [z.object({ record: z.record(z.literal(['a', 'b']), z.number()) }), all],
    'an enum, none of which is required': [z.object({ record: z.partialRecord(keys, z.number()) }), {}],
    'an enum of the lowest zod': [lowest.object({ record: oldRecord }), all],
  };
  it.each(Object.keys(records))('names the fields of a record whose keys are %s', (what) => {
    const [schema, required] = records[what]!;
    expect(toParameters(schema).properties).toEqual({
      record: {
        type: 'object',
        properties: { a: digit, b: digit },
        additionalProperties: false,
        ...required,
      },
    });
  });

  const written = {
    type: 'object',
    title: 'Item',
    properties: { code: { type: 'string', description: 'Five digits' } },
    required: ['code'],
    additionalProperties: false,
  };
  const newItem = z.object({ code: z.string().describe('Five digits') }).meta({ id: 'item', title: 'Item' });
  const oldItem = lowest
    .object({ code: lowest.string().describe('Five digits') })
    .meta({ id: 'item', title: 'Item' });
  it.each<[string, unknown]>([
    ['newest', z.object({ first: newItem, second: newItem })],
    ['lowest', lowest.object({ first: oldItem, second: oldItem })],
  ])('repeats a schema with an id where it is used, with the words of the %s zod', (_, schema) => {
    expect(toParameters(schema)).toEqual({
      type: 'object',
      properties: { first: written, second: written },
      required: ['first', 'second'],
      additionalProperties: false,
    });
  });

  it('drops $schema and propertyNames as keywords and keeps them as property names', () => {
    const parameters = toParameters(z.object({ $schema: z.string(), propertyNames: z.boolean() }));
    expect(parameters).toEqual({
      type: 'object',
      properties: { $schema: { type: 'string' }, propertyNames: { type: 'boolean' } },
      required: ['$schema', 'propertyNames'],
      additionalProperties: false,
    });
  });

  it('describes the input side: a field with a default is optional', () => {
    const schema = z.object({ limit: z.number().default(5), city: z.string().describe('Where') });
    expect(toParameters(schema)).toMatchObject({
      properties: { limit: { default: 5 }, city: { description: 'Where' } },
      required: ['city'],
    });
  });

  it('is an empty closed object for a tool without arguments', () => {
    expect(toParameters(undefined)).toEqual({ type: 'object', properties: {}, additionalProperties: false });
    expect(toParameters(z.object({}))).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: false,
    });
  });

  it('accepts schemas of zod/mini, which have no methods', () => {
    expect(toParameters(mini.object({ city: mini.string() }))).toMatchObject({ required: ['city'] });
  });
});

describe('[definitions 8] allowed zod nodes', () => {
  it('accepts every kind of the contract', () => {
    const schema = z.object({
      string: z.email(),
      number: z.int(),
      boolean: z.boolean(),
      null: z.null(),
      literal: z.literal(['a', 1]),
      enum: z.enum(['a', 'b']),
      optional: z.string().optional(),
      nullable: z.string().nullable(),
      default: z.string().default('x'),
      array: z.array(z.string()),
      object: z.object({ a: z.string() }),
      record: z.record(z.string(), z.number()),
      union: z.union([z.string(), z.number()]),
      any: z.any(),
      unknown: z.array(z.unknown()),
      refined: z.string().refine((text) => text !== ''),
    });
    expect(checkArguments(schema, 'args')).toEqual([]);
  });

  it.each<[string, z.ZodType]>([
    ['date', z.date()],
    ['bigint', z.bigint()],
    ['map', z.map(z.string(), z.string())],
    ['set', z.set(z.string())],
    ['tuple', z.tuple([z.string()])],
    ['intersection', z.intersection(z.object({}), z.object({}))],
    ['pipe', z.string().transform(Number)],
    ['lazy', z.lazy(() => z.string())],
  ])('refuses z.%s and names the way out', (type, schema) => {
    expect(checkArguments(z.object({ field: schema }), 'args')).toEqual([
      {
        field: 'args.field',
        message: expect.stringMatching(
          `^uses z\\.${type}, which cannot be described to models; .+\\. Allowed: `,
        ),
      },
    ]);
  });

  it('advises the string of a date in place of z.date', () => {
    expect(checkArguments(z.object({ due: z.date() }), 'args')).toMatchObject([
      { message: expect.stringContaining('models; write z.iso.datetime(), and make the Date in execute') },
    ]);
  });

  it('calls a schema of zod 3 that', () => {
    const three = { _def: { typeName: 'ZodString' }, safeParse: () => ({}), parse: () => ({}) };
    expect(checkArguments(z.object({ city: three as never }), 'args')).toEqual([
      { field: 'args.city', message: expect.stringMatching(/^is a schema of zod 3: install zod 4/) },
    ]);
  });

  it.each(['first name', 'größe', '名前', '$top', 'filter[id]', '', 'a'.repeat(65)])(
    'refuses the name %j of an argument, which providers refuse; within an object it may stand',
    (name) => {
      expect(checkArguments(z.object({ [name]: z.string() }), 'args')).toEqual([
        {
          field: `args.${name}`,
          message: expect.stringContaining('is not a name that every provider accepts'),
        },
      ]);
      expect(paths(z.object({ within: z.object({ [name]: z.string() }) }))).toEqual([]);
    },
  );

  it('accepts the names of arguments that every provider accepts', () => {
    const names = ['a', 'firstName', 'first-name', 'first.name', '_1', '1st', 'a'.repeat(64)];
    expect(paths(z.object(Object.fromEntries(names.map((name) => [name, z.string()]))))).toEqual([]);
  });

  it('names the path of a refused node', () => {
    const schema = z.object({
      list: z.array(z.object({ when: z.date() })),
      byName: z.record(z.string(), z.map(z.string(), z.string())),
      maybe: z.union([z.string(), z.date()]).optional(),
    });
    expect(paths(schema)).toEqual(['args.list[].when', 'args.byName.*', 'args.maybe']);
  });

  it('accepts 7 levels of containers below the arguments and refuses the 8th', () => {
    expect(paths(z.object({ deep: nested(7) }))).toEqual([]);
    expect(paths(z.object({ deep: nested(8) }))).toEqual([`args.deep${'[]'.repeat(7)}`]);
  });

  it('refuses a schema that contains itself', () => {
    const tree = z.object({
      get children() {
        return z.array(tree);
      },
    });
    expect(paths(tree)).toHaveLength(1);
  });
});
