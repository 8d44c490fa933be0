// What scripts find beside the language: console, timers and, if the host takes requests, tools;
// and how values and errors are worded. __emit takes a line of output, __report the outcome,
// __request a call of a tool. They are taken away before a script runs.
(() => {
  'use strict';
  const emit = globalThis.__emit, report = globalThis.__report, request = globalThis.__request;
  delete globalThis.__emit;
  delete globalThis.__report;
  delete globalThis.__request;

  // Scripts may replace what stands in the global object.
  const { stringify, parse } = JSON, { apply } = Reflect, { then } = Promise.prototype;
  const maxDepth = 5, maxItems = 100, maxText = 10000, wide = 80;
  const identifier = /^[A-Za-z_$][\w$]*$/;

  function cut(text, most) {
    return text.length > most ? text.slice(0, most) + `… (${text.length - most} characters more)` : text;
  }

  // inspect words a value as a console shows it.
  function inspect(value, depth = 0, seen = []) {
    switch (typeof value) {
      case 'string': return depth ? stringify(cut(value, maxText)) : cut(stringify(value), 16000);
      case 'bigint': return cut(`${value}n`, maxText);
      case 'symbol': return value.toString();
      case 'number': return Object.is(value, -0) ? '-0' : String(value);
      case 'function': {
        const source = Function.prototype.toString.call(value);
        return source.startsWith('class') ? `[class ${value.name || '(anonymous)'}]` : `[Function: ${value.name || '(anonymous)'}]`;
      }
      case 'object': break;
      default: return String(value);
    }
    if (value === null) return 'null';
    if (seen.includes(value)) return '[Circular]';
    if (value instanceof Error) return words(value, depth);
    if (value instanceof Date) return isNaN(value) ? 'Invalid Date' : value.toISOString();
    if (value instanceof RegExp) return String(value);
    const name = value.constructor && typeof value.constructor.name === 'string' ? value.constructor.name : '[Object: null prototype]';
    if (depth > maxDepth) return Array.isArray(value) ? '[Array]' : name[0] === '[' ? name : `[${name}]`;
    const inner = (v) => inspect(v, depth + 1, [...seen, value]);
    if (Array.isArray(value) || ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      const items = [];
      for (let i = 0; i < Math.min(value.length, maxItems); i++) items.push(i in value ? inner(value[i]) : '<empty>');
      if (value.length > maxItems) items.push(`... ${value.length - maxItems} more`);
      return (name === 'Array' ? '' : `${name}(${value.length}) `) + group('[', items, ']', depth);
    }
    if (value instanceof Map) {
      return `Map(${value.size}) ` + group('{', first(value, ([k, v]) => `${inner(k)} => ${inner(v)}`, value.size), '}', depth);
    }
    if (value instanceof Set) {
      return `Set(${value.size}) ` + group('{', first(value, inner, value.size), '}', depth);
    }
    if (value instanceof Promise) return 'Promise {}';
    if (value instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${value.byteLength} }`;
    const keys = Reflect.ownKeys(value).filter((k) => Object.prototype.propertyIsEnumerable.call(value, k));
    const items = first(keys, (key) => {
      const property = Object.getOwnPropertyDescriptor(value, key);
      const label = typeof key === 'symbol' ? `[${key.toString()}]` : identifier.test(key) ? key : stringify(key);
      if (property && property.get) return `${label}: [Getter]`;
      return `${label}: ${inner(property ? property.value : value[key])}`;
    }, keys.length);
    return (name === 'Object' ? '' : `${name} `) + group('{', items, '}', depth);
  }

  function first(items, word, count) {
    const out = [];
    for (const item of items) {
      if (out.length === maxItems) {
        out.push(`... ${count - maxItems} more`);
        break;
      }
      out.push(word(item));
    }
    return out;
  }

  function group(open, items, close, depth) {
    if (items.length === 0) return open + close;
    const pad = open === '{' ? ' ' : '';
    const line = open + pad + items.join(', ') + pad + close;
    if (line.length <= wide && !line.includes('\n')) return line;
    const indent = '  '.repeat(depth + 1);
    return open + '\n' + items.map((i) => indent + i).join(',\n') + '\n' + '  '.repeat(depth) + close;
  }

  // words gives an error with the lines of the script that it came through.
  function words(error, depth = 0) {
    let text = `${error.name || 'Error'}${error.message === '' || error.message === undefined ? '' : ': ' + error.message}`;
    const stack = lines(error.stack);
    if (stack) text += '\n' + stack;
    if (error.cause !== undefined && depth < maxDepth) text += '\ncaused by: ' + inspect(error.cause, depth + 1);
    if (Array.isArray(error.errors) && depth < maxDepth) text += error.errors.slice(0, 10).map((e) => '\n- ' + inspect(e, depth + 1)).join('');
    return text;
  }

  function lines(stack) {
    if (typeof stack !== 'string') return '';
    const at = stack.split('\n').filter((l) => l.includes('<eval>:') && !l.includes('__toolcrib')).map((l) =>
      '  at ' + l.trim().replace(/^at /, '').replace(/^<eval> \(<eval>:(\d+):(\d+)\)$/, 'line $1, column $2').replace(/<eval>:(\d+):(\d+)/, 'line $1, column $2'));
    return at.length > 12 ? [...at.slice(0, 8), `  ... ${at.length - 11} more`, ...at.slice(-3)].join('\n') : at.join('\n');
  }

  function plain(value) {
    return typeof value === 'string' ? value : inspect(value);
  }

  function format(args) {
    if (typeof args[0] !== 'string' || args.length === 1) return args.map(plain).join(' ');
    let next = 1;
    const text = args[0].replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === '%%') return '%';
      if (next >= args.length) return mark;
      const value = args[next++];
      switch (mark) {
        case '%s': return plain(value);
        case '%d': return String(Number(value));
        case '%i': return String(parseInt(value));
        case '%f': return String(parseFloat(value));
        case '%j': return stringify(value);
        case '%c': return '';
        default: return inspect(value);
      }
    });
    return [text, ...args.slice(next).map(plain)].join(' ');
  }

  let indent = '';
  const counts = new Map(), clocks = new Map();
  function print(...args) {
    const text = format(args).replaceAll('\0', '\\0'); // the engine's strings of C end there
    emit(indent ? indent + text.replaceAll('\n', '\n' + indent) : text);
  }
  const console = {
    log: print, info: print, debug: print, warn: print, error: print,
    dir: (value) => print(inspect(value)),
    table: (value) => print(inspect(value)),
    trace: (...args) => print('Trace: ' + format(args) + '\n' + lines(new Error().stack)),
    assert: (holds, ...args) => { if (!holds) print(['Assertion failed', format(args)].filter(Boolean).join(': ')); },
    group: (...args) => { if (args.length) print(...args); indent += '  '; },
    groupEnd: () => { indent = indent.slice(2); },
    count: (label = 'default') => { counts.set(label, (counts.get(label) || 0) + 1); print(`${label}: ${counts.get(label)}`); },
    time: (label = 'default') => { clocks.set(label, Date.now()); },
    timeEnd: (label = 'default') => { print(`${label}: ${Date.now() - clocks.get(label)} ms`); clocks.delete(label); },
  };
  const own = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  own('console', console);

  let lastTimer = 0;
  const timers = new Map();
  const timer = (repeats) => (run, delay = 0, ...args) => {
    if (typeof run !== 'function') throw new TypeError('the callback of a timer must be a function');
    delay = Math.max(0, Number(delay) || 0);
    timers.set(++lastTimer, { due: Date.now() + delay, __toolcrib_run: () => run(...args), every: repeats ? Math.max(1, delay) : 0 });
    return lastTimer;
  };
  const clear = (id) => { timers.delete(id); };
  own('setTimeout', timer(false));
  own('setInterval', timer(true));
  own('clearTimeout', clear);
  own('clearInterval', clear);
  own('queueMicrotask', (run) => { Promise.resolve().then(run); });

  // tools.NAME calls a tool by its name and gives its data, or its text; tools.pages gives all
  // pages of its result, one after the other.
  class ToolError extends Error {
    constructor(tool, { code, message, hint }) {
      super(`${code}: ${message}${hint ? ` (${hint})` : ''}`);
      Object.assign(this, { name: 'ToolError', tool, code, hint });
    }
  }
  const maxArguments = 1e6, calls = new Map();
  let lastCall = 0;
  function __toolcrib_call(name, args = {}) {
    if (args === null || typeof args !== 'object' || Array.isArray(args)) {
      throw new TypeError(`the arguments of ${name} are one object, such as tools.${name}({path: "."})`);
    }
    const text = stringify({ id: ++lastCall, name, args });
    if (text.length > maxArguments) {
      throw new ToolError(name, { code: 'too_large', message: `arguments of ${text.length} characters; at most ${maxArguments}` });
    }
    const { stack } = new Error();
    return new Promise((resolve, reject) => {
      calls.set(lastCall, { name, stack, resolve, reject });
      request(text);
    });
  }
  const value = ({ value }) => value;
  const own_tools = {
    search: async function __toolcrib_search(query) {
      return value(await __toolcrib_call('search_tools', typeof query === 'string' ? { query } : query));
    },
    pages: async function* __toolcrib_pages(name, args = {}) {
      for (let next = args; next;) {
        const page = await __toolcrib_call(name, next);
        yield page.value;
        next = page.next && { ...next, ...page.next };
      }
    },
  };
  if (request) {
    own('ToolError', ToolError);
    own('tools', new Proxy(own_tools, {
      get(known, name) {
        if (typeof name !== 'string' || name === 'then' || name === 'toJSON') return undefined;
        if (Object.hasOwn(known, name)) return known[name];
        return async function __toolcrib_tool(args) { return value(await __toolcrib_call(name, args)); };
      },
    }));
  }

  // What the host calls. settle reports how the script ended, step runs the timer that is
  // due and returns how many milliseconds there are until the next one, -1 = there is none.
  let settled = false;
  function fail(error) {
    settled = true;
    const is = error instanceof Error;
    const text = is ? words(error) : inspect(error);
    report(stringify({ error: cut(is ? text : 'thrown: ' + text, 16000) }));
  }
  globalThis.__toolcrib = Object.freeze({
    settle(outcome) {
      const ended = apply(then, outcome, [(result) => {
        settled = true;
        let { value } = result;
        if (!(value instanceof Promise)) {
          report(stringify(value === undefined ? {} : { value: cut(inspect(value), 16000) }));
          return;
        }
        report(stringify({ value: 'Promise {} (it did not settle)' }));
        apply(then, value, [(v) => report(stringify({ value: cut(inspect(v), 16000) })), fail]);
      }]);
      apply(then, ended, [undefined, fail]);
    },
    step: function __toolcrib_step() {
      let id, next;
      for (const [i, t] of timers) if (!next || t.due < next.due) [id, next] = [i, t];
      if (!next) return -1;
      const wait = next.due - Date.now();
      if (wait > 0) return wait;
      if (next.every) next.due = Date.now() + next.every;
      else timers.delete(id);
      try {
        next.__toolcrib_run();
      } catch (e) {
        fail(e);
        timers.clear();
      }
      return 0;
    },
    reply: function __toolcrib_reply(text) {
      const { id, value, next, failed } = parse(text), call = calls.get(id);
      calls.delete(id);
      if (!failed) return call.resolve({ value, next });
      const error = new ToolError(call.name, failed);
      error.stack = call.stack;
      call.reject(error);
    },
    where(source) { // of a syntax error; nothing is run
      try {
        new (async () => {}).constructor(source);
      } catch (e) {
        const at = /:(\d+)(?::(\d+))?\)?\s*$/m.exec(e.stack || '');
        if (e instanceof SyntaxError && at) return Number(at[1]) - 2; // below the head of the function
      }
      return 0;
    },
    settled: () => settled,
  });
  Object.defineProperty(globalThis, '__toolcrib', { enumerable: false, writable: false, configurable: false });
})()
