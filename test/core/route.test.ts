/** Routes of thread endpoints: what a file's name means, and which file answers a request. */
import { describe, expect, it } from '@jest/globals';
import { describeRoute, findRoute, parseRoute, routeShape } from '../../src/core/project/route.ts';

function routeOf(name: string): string {
  const parsed = parseRoute(name);
  return parsed.ok ? describeRoute(parsed.route) : `problem: ${parsed.problem}`;
}

/** Returns `name {params}`, or why there is no endpoint. */
function answer(names: readonly string[], method: string, path: string): string {
  const found = findRoute(new Map(names.map((name) => [name, name])), method, path);
  if (found.kind === 'found') return `${found.endpoint} ${JSON.stringify(found.params)}`;
  return found.kind === 'not_found' ? found.kind : `only ${found.allowed.join(' ')}`;
}

describe('[definitions 11] the name of an endpoint', () => {
  it.each([
    ['foo', 'GET /foo'],
    ['bar.post', 'POST /bar'],
    ['bar.get', 'GET /bar'],
    ['bar.PUT', 'PUT /bar'],
    ['bar.Patch', 'PATCH /bar'],
    ['bar.delete', 'DELETE /bar'],
    ['index', 'GET /'],
    ['index.post', 'POST /'],
    ['orders/index', 'GET /orders'],
    ['index/orders', 'GET /index/orders'],
    ['orders/[id]', 'GET /orders/[id]'],
    ['orders/[id]/lines/[line].delete', 'DELETE /orders/[id]/lines/[line]'],
    ['files/[*]', 'GET /files/[*]'],
    ['[*].put', 'PUT /[*]'],
    ['feed.xml', 'GET /feed.xml'],
    ['post', 'GET /post'],
    ['get.post', 'POST /get'],
  ])('%s is the route %s', (name, route) => {
    expect(routeOf(name)).toBe(route);
  });

  it.each([
    ['foo.get.post', 'ends in two methods, .get.post: create one file per method'],
    ['files/[*]/info', 'has [*] before its last segment'],
    ['orders/[]', 'has an empty []: write a parameter such as [id], or [*] for the rest of the path'],
    ['orders/[id]/[id]', "has the parameter 'id' twice"],
    ['orders/no-[id]', "has the segment 'no-[id]': brackets must enclose a whole segment, as in [id] or [*]"],
    ['orders/[id', "has the segment '[id': brackets must enclose a whole segment, as in [id] or [*]"],
    [
      '[...rest]',
      "has the parameter '...rest', whose name must consist of letters, digits, _ and -, not starting with a digit; write [*] for the rest of the path",
    ],
    ['.post', 'has a segment without a name'],
  ])('%s is refused', (name, problem) => {
    expect(routeOf(name)).toBe(`problem: ${problem}`);
  });

  it.each([
    ['a/[id]', 'a/[name]', true],
    ['a', 'a.get', true],
    ['a', 'a/index', true],
    ['a/[*]', 'a/[*].GET', true],
    ['a/[id]', 'a/[id].post', false],
    ['a/[id]', 'a/[*]', false],
    ['a', 'A', false],
    ['a/b', 'a-b', false],
  ])('%s and %s answer the same requests: %s', (one, other, same) => {
    const shapes = [one, other].map((name) => {
      const parsed = parseRoute(name);
      return parsed.ok && routeShape(parsed.route);
    });
    expect(shapes[0] === shapes[1]).toBe(same);
  });
});

describe('[definitions 11] the route of a request', () => {
  it.each<[string[], string, string, string]>([
    // Static, then dynamic, then catch-all.
    [['a/[*]', 'a/[id]', 'a/b'], 'GET', '/a/b', 'a/b {}'],
    [['a/[*]', 'a/[id]', 'a/b'], 'GET', '/a/c', 'a/[id] {"id":"c"}'],
    [['a/[*]', 'a/[id]', 'a/b'], 'GET', '/a/c/d', 'a/[*] {"*":"c/d"}'],
    // Compared from the left: the earlier static segment wins, whatever follows.
    [['[x]/b/c', 'a/[*]'], 'GET', '/a/b/c', 'a/[*] {"*":"b/c"}'],
    [['[x]/b', 'a/[y]'], 'GET', '/a/b', 'a/[y] {"y":"b"}'],
    [['[x]/[*]', '[x]/[y]/c'], 'GET', '/a/b/c', '[x]/[y]/c {"x":"a","y":"b"}'],
    // A route that matches better at its beginning, but not to its end, is no candidate.
    [['a/[x]/c', '[y]/b/d'], 'GET', '/a/b/d', '[y]/b/d {"y":"a"}'],
    [['a/b/c', '[*]'], 'GET', '/a/b', '[*] {"*":"a/b"}'],
    // A catch-all takes zero or more segments; the exact route goes before it.
    [['a/[*]'], 'GET', '/a', 'a/[*] {"*":""}'],
    [['a/[*]'], 'GET', '/', 'not_found'],
    [['a/[*]', 'a'], 'GET', '/a', 'a {}'],
    [['[*]', 'index'], 'GET', '/', 'index {}'],
    [['[*]'], 'GET', '', '[*] {"*":""}'],
    [['a/[id]'], 'GET', '/a', 'not_found'],
    // Methods.
    [['a', 'a.post'], 'POST', '/a', 'a.post {}'],
    [['a', 'a.post'], 'post', '/a', 'a.post {}'],
    [['a', 'a.post'], 'HEAD', '/a', 'a {}'],
    [['a.post'], 'HEAD', '/a', 'only POST'],
    [['a.delete', 'a', '[x].put'], 'POST', '/a', 'only GET HEAD PUT DELETE'],
    [['a'], 'OPTIONS', '/a', 'only GET HEAD'],
    [['a/new.post', 'a/[id]'], 'GET', '/a/new', 'a/[id] {"id":"new"}'],
    [['a'], 'GET', '/b', 'not_found'],
    // Slashes, encodings, case.
    [['a/[id]'], 'GET', '//a//b/', 'a/[id] {"id":"b"}'],
    [['a/[id]'], 'GET', '/a/b%2Fc%20d', 'a/[id] {"id":"b/c d"}'],
    [['käse'], 'GET', '/k%C3%A4se', 'käse {}'],
    [['a/[id]'], 'GET', '/%61/b', 'a/[id] {"id":"b"}'],
    [['a/[id]', '[*]'], 'GET', '/a/%E0%A4', 'not_found'],
    [['a'], 'GET', '/A', 'not_found'],
    [['a/[__proto__]'], 'GET', '/a/b', 'a/[__proto__] {"__proto__":"b"}'],
  ])('of %j, %s %s means %s', (names, method, path, expected) => {
    expect(answer(names, method, path)).toBe(expected);
    expect(answer(names.toReversed(), method, path)).toBe(expected);
  });
});
