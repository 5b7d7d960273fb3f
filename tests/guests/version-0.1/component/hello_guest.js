export function instantiate(e, t, r = (e, t) => new WebAssembly.Instance(e, t)) {
  let a = new DataView(new ArrayBuffer());
  const n = (e) => (a.buffer === e.buffer ? a : (a = new DataView(e.buffer))),
    s = (e) => BigInt.asUintN(64, BigInt(e));
  function i(e) {
    return e >>> 0;
  }
  const o = new TextDecoder(),
    c = new TextEncoder();
  let l = 0;
  function d(e, t, r) {
    if ("string" != typeof e) throw new TypeError("expected a string");
    if (0 === e.length) return ((l = 0), 1);
    let a = c.encode(e),
      n = t(0, 0, 1, a.length);
    return (new Uint8Array(r.buffer).set(a, n), (l = a.length), n);
  }
  class ComponentError extends Error {
    constructor(e) {
      const t = "string" != typeof e;
      (super(t ? e + "" + " (see error.payload)" : e),
        Object.defineProperty(this, "payload", { value: e, enumerable: t }));
    }
  }
  function f(e) {
    if (e && g.call(e, "payload")) return e.payload;
    if (e instanceof Error) throw e;
    return e;
  }
  function v() {
    throw new TypeError("invalid variant discriminant for bool");
  }
  const g = Object.prototype.hasOwnProperty,
    u = e("hello_guest.core.wasm"),
    b = e("hello_guest.core2.wasm"),
    w = e("hello_guest.core3.wasm"),
    {
      appendEntry: k,
      cancelRequest: p,
      getFlag: I,
      guardTools: y,
      keepNewest: h,
      logPanic: m,
      on: U,
      registerCommand: E,
      registerEntryRenderer: A,
      registerFlag: T,
      registerMessageRenderer: x,
      registerTool: $,
      sendMessage: O,
      sendUserMessage: N,
    } = t["pi:extension/api"],
    { toolInput: S } = t["pi:extension/context"],
    { finishSnapshot: J, readFile: M, startSnapshot: B, unchanged: C } = t["pi:extension/files"],
    { entries: _, newestMessage: q } = t["pi:extension/session"],
    { get: D, remove: R, set: j } = t["pi:extension/store"],
    { start: P } = t["pi:extension/timers"],
    { notify: F, setStatus: V } = t["pi:extension/ui"];
  let L,
    G,
    K,
    W = (function* () {
      let e, t, a, c, g, L, G, K, W, z, H, Q, X, Y, Z, ee, te, re, ae, ne, se, ie, oe;
      function ce(e) {
        var { interfaceVersion: t } = e,
          r = d(t, c, a);
        const s = Q(r, l);
        let i;
        switch (n(a).getUint8(s + 0, !0)) {
          case 0:
            i = { tag: "ok", val: void 0 };
            break;
          case 1: {
            let e;
            if (0 !== n(a).getUint8(s + 4, !0)) throw new TypeError("invalid variant discriminant for InitError");
            var f = n(a).getInt32(s + 8, !0),
              v = n(a).getInt32(s + 12, !0);
            ((e = { tag: "version-mismatch", val: o.decode(new Uint8Array(a.buffer, f, v)) }),
              (i = { tag: "err", val: e }));
            break;
          }
          default:
            throw new TypeError("invalid variant discriminant for expected");
        }
        const g = i;
        if ((L(s), "object" == typeof g && "err" === g.tag)) throw new ComponentError(g.val);
        return g.val;
      }
      (({ exports: e } = r(b)),
        ({ exports: t } = r(u, {
          "pi:extension/api@0.1.0": {
            "append-entry": e[2],
            "cancel-request": function (e) {
              p(BigInt.asUintN(64, e));
            },
            "get-flag": e[10],
            "guard-tools": function (e) {
              y(0 != e && (1 == e || v()));
            },
            "keep-newest": e[9],
            "log-panic": e[4],
            on: function (e) {
              let t;
              switch (e) {
                case 0:
                  t = "session-start";
                  break;
                case 1:
                  t = "session-tree";
                  break;
                case 2:
                  t = "session-compact";
                  break;
                case 3:
                  t = "session-shutdown";
                  break;
                case 4:
                  t = "input";
                  break;
                case 5:
                  t = "terminal-input";
                  break;
                case 6:
                  t = "before-agent-start";
                  break;
                case 7:
                  t = "agent-start";
                  break;
                case 8:
                  t = "turn-end";
                  break;
                case 9:
                  t = "agent-end";
                  break;
                case 10:
                  t = "agent-before-settle";
                  break;
                case 11:
                  t = "agent-settled";
                  break;
                case 12:
                  t = "tool-call";
                  break;
                default:
                  throw new TypeError("invalid discriminant specified for EventKind");
              }
              U(t);
            },
            "register-command": e[5],
            "register-entry-renderer": e[7],
            "register-flag": e[6],
            "register-message-renderer": e[8],
            "register-tool": e[3],
            "send-message": e[12],
            "send-user-message": e[11],
          },
          "pi:extension/context@0.1.0": { "tool-input": e[18] },
          "pi:extension/files@0.1.0": {
            "finish-snapshot": function () {
              J();
            },
            "read-file": e[19],
            "start-snapshot": function () {
              B();
            },
            unchanged: function () {
              return C() ? 1 : 0;
            },
          },
          "pi:extension/session@0.1.0": { entries: e[0], "newest-message": e[1] },
          "pi:extension/store@0.1.0": { get: e[15], remove: e[17], set: e[16] },
          "pi:extension/timers@0.1.0": {
            start: function (e, t) {
              P(BigInt.asUintN(64, e), t >>> 0);
            },
          },
          "pi:extension/ui@0.1.0": { notify: e[14], "set-status": e[13] },
        })),
        (a = t.memory),
        (c = t.cabi_realloc),
        ({ exports: g } = r(w, {
          "": {
            $imports: e.$imports,
            0: function (e, t, r, s, i, v, g, u) {
              var b = e,
                w = t,
                k = o.decode(new Uint8Array(a.buffer, b, w));
              let p, I;
              switch (i) {
                case 0:
                  p = void 0;
                  break;
                case 1:
                  var y = v,
                    h = g;
                  p = o.decode(new Uint8Array(a.buffer, y, h));
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for option");
              }
              try {
                I = { tag: "ok", val: _(k, r >>> 0, s >>> 0, p) };
              } catch (e) {
                I = { tag: "err", val: f(e) };
              }
              var m = I;
              switch (m.tag) {
                case "ok": {
                  const e = m.val;
                  n(a).setInt8(u + 0, 0, !0);
                  var U = e,
                    E = U.length,
                    A = c(0, 0, 4, 8 * E);
                  for (let e = 0; e < U.length; e++) {
                    const t = A + 8 * e;
                    var T = d(U[e], c, a),
                      x = l;
                    (n(a).setInt32(t + 4, x, !0), n(a).setInt32(t + 0, T, !0));
                  }
                  (n(a).setInt32(u + 8, E, !0), n(a).setInt32(u + 4, A, !0));
                  break;
                }
                case "err": {
                  const e = m.val;
                  n(a).setInt8(u + 0, 1, !0);
                  var $ = e;
                  switch ($.tag) {
                    case "stale":
                      n(a).setInt8(u + 4, 0, !0);
                      break;
                    case "failed": {
                      const e = $.val;
                      n(a).setInt8(u + 4, 1, !0);
                      var O = d(e, c, a),
                        N = l;
                      (n(a).setInt32(u + 12, N, !0), n(a).setInt32(u + 8, O, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify($.tag)}\` (received \`${$}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            1: function (e, t, r) {
              var s = e,
                i = t,
                v = o.decode(new Uint8Array(a.buffer, s, i));
              let g;
              try {
                g = { tag: "ok", val: q(v) };
              } catch (e) {
                g = { tag: "err", val: f(e) };
              }
              var u = g;
              switch (u.tag) {
                case "ok": {
                  const e = u.val;
                  n(a).setInt8(r + 0, 0, !0);
                  var b = e;
                  if (null == b) n(a).setInt8(r + 4, 0, !0);
                  else {
                    const e = b;
                    n(a).setInt8(r + 4, 1, !0);
                    var { customType: w, content: k, display: p } = e,
                      I = d(w, c, a),
                      y = l;
                    (n(a).setInt32(r + 12, y, !0), n(a).setInt32(r + 8, I, !0));
                    var h = d(k, c, a),
                      m = l;
                    (n(a).setInt32(r + 20, m, !0), n(a).setInt32(r + 16, h, !0), n(a).setInt8(r + 24, p ? 1 : 0, !0));
                  }
                  break;
                }
                case "err": {
                  const e = u.val;
                  n(a).setInt8(r + 0, 1, !0);
                  var U = e;
                  switch (U.tag) {
                    case "stale":
                      n(a).setInt8(r + 4, 0, !0);
                      break;
                    case "failed": {
                      const e = U.val;
                      n(a).setInt8(r + 4, 1, !0);
                      var E = d(e, c, a),
                        A = l;
                      (n(a).setInt32(r + 12, A, !0), n(a).setInt32(r + 8, E, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(U.tag)}\` (received \`${U}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            10: function (e, t, r) {
              var s = e,
                i = t,
                v = o.decode(new Uint8Array(a.buffer, s, i));
              let g;
              try {
                g = { tag: "ok", val: I(v) };
              } catch (e) {
                g = { tag: "err", val: f(e) };
              }
              var u = g;
              switch (u.tag) {
                case "ok": {
                  const e = u.val;
                  (n(a).setInt8(r + 0, 0, !0), n(a).setInt8(r + 4, e ? 1 : 0, !0));
                  break;
                }
                case "err": {
                  const e = u.val;
                  n(a).setInt8(r + 0, 1, !0);
                  var b = e;
                  switch (b.tag) {
                    case "stale":
                      n(a).setInt8(r + 4, 0, !0);
                      break;
                    case "failed": {
                      const e = b.val;
                      n(a).setInt8(r + 4, 1, !0);
                      var w = d(e, c, a),
                        k = l;
                      (n(a).setInt32(r + 12, k, !0), n(a).setInt32(r + 8, w, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(b.tag)}\` (received \`${b}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            11: function (e, t, r, s, i) {
              var v = e,
                g = t,
                u = o.decode(new Uint8Array(a.buffer, v, g));
              let b, w;
              switch (r) {
                case 0:
                  b = void 0;
                  break;
                case 1: {
                  let e;
                  switch (s) {
                    case 0:
                      e = "steer";
                      break;
                    case 1:
                      e = "follow-up";
                      break;
                    case 2:
                      e = "next-turn";
                      break;
                    default:
                      throw new TypeError("invalid discriminant specified for Delivery");
                  }
                  b = e;
                  break;
                }
                default:
                  throw new TypeError("invalid variant discriminant for option");
              }
              try {
                w = { tag: "ok", val: N(u, b) };
              } catch (e) {
                w = { tag: "err", val: f(e) };
              }
              var k = w;
              switch (k.tag) {
                case "ok":
                  k.val;
                  n(a).setInt8(i + 0, 0, !0);
                  break;
                case "err": {
                  const e = k.val;
                  n(a).setInt8(i + 0, 1, !0);
                  var p = e;
                  switch (p.tag) {
                    case "stale":
                      n(a).setInt8(i + 4, 0, !0);
                      break;
                    case "failed": {
                      const e = p.val;
                      n(a).setInt8(i + 4, 1, !0);
                      var I = d(e, c, a),
                        y = l;
                      (n(a).setInt32(i + 12, y, !0), n(a).setInt32(i + 8, I, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(p.tag)}\` (received \`${p}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            12: function (e, t, r, s, i, g, u, b, w) {
              var k = e,
                p = t,
                I = o.decode(new Uint8Array(a.buffer, k, p)),
                y = r,
                h = s,
                m = o.decode(new Uint8Array(a.buffer, y, h)),
                U = i,
                E = g;
              let A, T;
              switch (u) {
                case 0:
                  A = void 0;
                  break;
                case 1: {
                  let e;
                  switch (b) {
                    case 0:
                      e = "steer";
                      break;
                    case 1:
                      e = "follow-up";
                      break;
                    case 2:
                      e = "next-turn";
                      break;
                    default:
                      throw new TypeError("invalid discriminant specified for Delivery");
                  }
                  A = e;
                  break;
                }
                default:
                  throw new TypeError("invalid variant discriminant for option");
              }
              try {
                T = {
                  tag: "ok",
                  val: O(
                    { customType: I, content: m, display: 0 != U && (1 == U || v()) },
                    0 != E && (1 == E || v()),
                    A,
                  ),
                };
              } catch (e) {
                T = { tag: "err", val: f(e) };
              }
              var x = T;
              switch (x.tag) {
                case "ok":
                  x.val;
                  n(a).setInt8(w + 0, 0, !0);
                  break;
                case "err": {
                  const e = x.val;
                  n(a).setInt8(w + 0, 1, !0);
                  var $ = e;
                  switch ($.tag) {
                    case "stale":
                      n(a).setInt8(w + 4, 0, !0);
                      break;
                    case "failed": {
                      const e = $.val;
                      n(a).setInt8(w + 4, 1, !0);
                      var N = d(e, c, a),
                        S = l;
                      (n(a).setInt32(w + 12, S, !0), n(a).setInt32(w + 8, N, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify($.tag)}\` (received \`${$}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            13: function (e, t, r, s, i, v) {
              var g = e,
                u = t,
                b = o.decode(new Uint8Array(a.buffer, g, u));
              let w, k;
              switch (r) {
                case 0:
                  w = void 0;
                  break;
                case 1:
                  var p = s,
                    I = i;
                  w = o.decode(new Uint8Array(a.buffer, p, I));
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for option");
              }
              try {
                k = { tag: "ok", val: V(b, w) };
              } catch (e) {
                k = { tag: "err", val: f(e) };
              }
              var y = k;
              switch (y.tag) {
                case "ok":
                  y.val;
                  n(a).setInt8(v + 0, 0, !0);
                  break;
                case "err": {
                  const e = y.val;
                  n(a).setInt8(v + 0, 1, !0);
                  var h = e;
                  switch (h.tag) {
                    case "stale":
                      n(a).setInt8(v + 4, 0, !0);
                      break;
                    case "failed": {
                      const e = h.val;
                      n(a).setInt8(v + 4, 1, !0);
                      var m = d(e, c, a),
                        U = l;
                      (n(a).setInt32(v + 12, U, !0), n(a).setInt32(v + 8, m, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(h.tag)}\` (received \`${h}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            14: function (e, t, r, s) {
              var i = e,
                v = t,
                g = o.decode(new Uint8Array(a.buffer, i, v));
              let u, b;
              switch (r) {
                case 0:
                  u = "info";
                  break;
                case 1:
                  u = "warning";
                  break;
                case 2:
                  u = "error";
                  break;
                default:
                  throw new TypeError("invalid discriminant specified for Level");
              }
              try {
                b = { tag: "ok", val: F(g, u) };
              } catch (e) {
                b = { tag: "err", val: f(e) };
              }
              var w = b;
              switch (w.tag) {
                case "ok":
                  w.val;
                  n(a).setInt8(s + 0, 0, !0);
                  break;
                case "err": {
                  const e = w.val;
                  n(a).setInt8(s + 0, 1, !0);
                  var k = e;
                  switch (k.tag) {
                    case "stale":
                      n(a).setInt8(s + 4, 0, !0);
                      break;
                    case "failed": {
                      const e = k.val;
                      n(a).setInt8(s + 4, 1, !0);
                      var p = d(e, c, a),
                        I = l;
                      (n(a).setInt32(s + 12, I, !0), n(a).setInt32(s + 8, p, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(k.tag)}\` (received \`${k}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            15: function (e, t, r) {
              var s = e,
                i = t,
                v = o.decode(new Uint8Array(a.buffer, s, i));
              let g;
              try {
                g = { tag: "ok", val: D(v) };
              } catch (e) {
                g = { tag: "err", val: f(e) };
              }
              var u = g;
              switch (u.tag) {
                case "ok": {
                  const e = u.val;
                  n(a).setInt8(r + 0, 0, !0);
                  var b = e;
                  if (null == b) n(a).setInt8(r + 4, 0, !0);
                  else {
                    const e = b;
                    n(a).setInt8(r + 4, 1, !0);
                    var w = d(e, c, a),
                      k = l;
                    (n(a).setInt32(r + 12, k, !0), n(a).setInt32(r + 8, w, !0));
                  }
                  break;
                }
                case "err": {
                  const e = u.val;
                  n(a).setInt8(r + 0, 1, !0);
                  var p = e;
                  switch (p.tag) {
                    case "not-granted":
                      n(a).setInt8(r + 4, 0, !0);
                      break;
                    case "too-large":
                      n(a).setInt8(r + 4, 1, !0);
                      break;
                    case "full":
                      n(a).setInt8(r + 4, 2, !0);
                      break;
                    case "failed": {
                      const e = p.val;
                      n(a).setInt8(r + 4, 3, !0);
                      var I = d(e, c, a),
                        y = l;
                      (n(a).setInt32(r + 12, y, !0), n(a).setInt32(r + 8, I, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(p.tag)}\` (received \`${p}\`) specified for \`StoreError\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            16: function (e, t, r, s, i) {
              var v = e,
                g = t,
                u = o.decode(new Uint8Array(a.buffer, v, g)),
                b = r,
                w = s,
                k = o.decode(new Uint8Array(a.buffer, b, w));
              let p;
              try {
                p = { tag: "ok", val: j(u, k) };
              } catch (e) {
                p = { tag: "err", val: f(e) };
              }
              var I = p;
              switch (I.tag) {
                case "ok":
                  I.val;
                  n(a).setInt8(i + 0, 0, !0);
                  break;
                case "err": {
                  const e = I.val;
                  n(a).setInt8(i + 0, 1, !0);
                  var y = e;
                  switch (y.tag) {
                    case "not-granted":
                      n(a).setInt8(i + 4, 0, !0);
                      break;
                    case "too-large":
                      n(a).setInt8(i + 4, 1, !0);
                      break;
                    case "full":
                      n(a).setInt8(i + 4, 2, !0);
                      break;
                    case "failed": {
                      const e = y.val;
                      n(a).setInt8(i + 4, 3, !0);
                      var h = d(e, c, a),
                        m = l;
                      (n(a).setInt32(i + 12, m, !0), n(a).setInt32(i + 8, h, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(y.tag)}\` (received \`${y}\`) specified for \`StoreError\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            17: function (e, t, r) {
              var s = e,
                i = t,
                v = o.decode(new Uint8Array(a.buffer, s, i));
              let g;
              try {
                g = { tag: "ok", val: R(v) };
              } catch (e) {
                g = { tag: "err", val: f(e) };
              }
              var u = g;
              switch (u.tag) {
                case "ok":
                  u.val;
                  n(a).setInt8(r + 0, 0, !0);
                  break;
                case "err": {
                  const e = u.val;
                  n(a).setInt8(r + 0, 1, !0);
                  var b = e;
                  switch (b.tag) {
                    case "not-granted":
                      n(a).setInt8(r + 4, 0, !0);
                      break;
                    case "too-large":
                      n(a).setInt8(r + 4, 1, !0);
                      break;
                    case "full":
                      n(a).setInt8(r + 4, 2, !0);
                      break;
                    case "failed": {
                      const e = b.val;
                      n(a).setInt8(r + 4, 3, !0);
                      var w = d(e, c, a),
                        k = l;
                      (n(a).setInt32(r + 12, k, !0), n(a).setInt32(r + 8, w, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(b.tag)}\` (received \`${b}\`) specified for \`StoreError\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            18: function (e) {
              let t;
              try {
                t = { tag: "ok", val: S() };
              } catch (e) {
                t = { tag: "err", val: f(e) };
              }
              var r = t;
              switch (r.tag) {
                case "ok": {
                  const t = r.val;
                  n(a).setInt8(e + 0, 0, !0);
                  var s = d(t, c, a),
                    i = l;
                  (n(a).setInt32(e + 8, i, !0), n(a).setInt32(e + 4, s, !0));
                  break;
                }
                case "err": {
                  const t = r.val;
                  n(a).setInt8(e + 0, 1, !0);
                  var o = t;
                  switch (o.tag) {
                    case "stale":
                      n(a).setInt8(e + 4, 0, !0);
                      break;
                    case "failed": {
                      const t = o.val;
                      n(a).setInt8(e + 4, 1, !0);
                      var v = d(t, c, a),
                        g = l;
                      (n(a).setInt32(e + 12, g, !0), n(a).setInt32(e + 8, v, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(o.tag)}\` (received \`${o}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            19: function (e, t, r, v, g) {
              var u = e,
                b = t,
                w = o.decode(new Uint8Array(a.buffer, u, b)),
                k = r,
                p = v,
                I = o.decode(new Uint8Array(a.buffer, k, p));
              let y;
              try {
                y = { tag: "ok", val: M(w, I) };
              } catch (e) {
                y = { tag: "err", val: f(e) };
              }
              var h = y;
              switch (h.tag) {
                case "ok": {
                  const e = h.val;
                  n(a).setInt8(g + 0, 0, !0);
                  var m = e,
                    U = m.byteLength,
                    E = c(0, 0, 1, 1 * U),
                    A = new Uint8Array(m.buffer || m, m.byteOffset, 1 * U);
                  (new Uint8Array(a.buffer, E, 1 * U).set(A),
                    n(a).setInt32(g + 12, U, !0),
                    n(a).setInt32(g + 8, E, !0));
                  break;
                }
                case "err": {
                  const e = h.val;
                  n(a).setInt8(g + 0, 1, !0);
                  var T = e;
                  switch (T.tag) {
                    case "stale":
                      n(a).setInt8(g + 8, 0, !0);
                      break;
                    case "no-such-root":
                      n(a).setInt8(g + 8, 1, !0);
                      break;
                    case "not-found":
                      n(a).setInt8(g + 8, 2, !0);
                      break;
                    case "outside-root":
                      n(a).setInt8(g + 8, 3, !0);
                      break;
                    case "outside-project": {
                      const e = T.val;
                      n(a).setInt8(g + 8, 4, !0);
                      var x = d(e, c, a),
                        $ = l;
                      (n(a).setInt32(g + 20, $, !0), n(a).setInt32(g + 16, x, !0));
                      break;
                    }
                    case "wrong-kind":
                      n(a).setInt8(g + 8, 5, !0);
                      break;
                    case "too-large": {
                      const e = T.val;
                      (n(a).setInt8(g + 8, 6, !0), n(a).setBigInt64(g + 16, s(e), !0));
                      break;
                    }
                    case "too-many": {
                      const e = T.val;
                      (n(a).setInt8(g + 8, 7, !0), n(a).setInt32(g + 16, i(e), !0));
                      break;
                    }
                    case "failed": {
                      const e = T.val;
                      n(a).setInt8(g + 8, 8, !0);
                      var O = d(e, c, a),
                        N = l;
                      (n(a).setInt32(g + 20, N, !0), n(a).setInt32(g + 16, O, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(T.tag)}\` (received \`${T}\`) specified for \`FileError\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            2: function (e, t, r, s, i) {
              var v = e,
                g = t,
                u = o.decode(new Uint8Array(a.buffer, v, g)),
                b = r,
                w = s,
                p = o.decode(new Uint8Array(a.buffer, b, w));
              let I;
              try {
                I = { tag: "ok", val: k(u, p) };
              } catch (e) {
                I = { tag: "err", val: f(e) };
              }
              var y = I;
              switch (y.tag) {
                case "ok":
                  y.val;
                  n(a).setInt8(i + 0, 0, !0);
                  break;
                case "err": {
                  const e = y.val;
                  n(a).setInt8(i + 0, 1, !0);
                  var h = e;
                  switch (h.tag) {
                    case "stale":
                      n(a).setInt8(i + 4, 0, !0);
                      break;
                    case "failed": {
                      const e = h.val;
                      n(a).setInt8(i + 4, 1, !0);
                      var m = d(e, c, a),
                        U = l;
                      (n(a).setInt32(i + 12, U, !0), n(a).setInt32(i + 8, m, !0));
                      break;
                    }
                    default:
                      throw new TypeError(
                        `invalid variant tag value \`${JSON.stringify(h.tag)}\` (received \`${h}\`) specified for \`Error\``,
                      );
                  }
                  break;
                }
                default:
                  throw new TypeError("invalid variant specified for result");
              }
            },
            3: function (e, t, r, s, i, c, l, d, f, g, u, b, w, k) {
              var p = e,
                I = t,
                y = o.decode(new Uint8Array(a.buffer, p, I)),
                h = r,
                m = s,
                U = o.decode(new Uint8Array(a.buffer, h, m)),
                E = i,
                A = c,
                T = o.decode(new Uint8Array(a.buffer, E, A)),
                x = l,
                O = d,
                N = o.decode(new Uint8Array(a.buffer, x, O));
              let S;
              switch (f) {
                case 0:
                  S = void 0;
                  break;
                case 1:
                  var J = g,
                    M = u;
                  S = o.decode(new Uint8Array(a.buffer, J, M));
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for option");
              }
              var B = w,
                C = b,
                _ = [];
              for (let e = 0; e < B; e++) {
                const t = C + 8 * e;
                var q = n(a).getInt32(t + 0, !0),
                  D = n(a).getInt32(t + 4, !0),
                  R = o.decode(new Uint8Array(a.buffer, q, D));
                _.push(R);
              }
              $({
                name: y,
                label: U,
                description: T,
                parameters: N,
                promptSnippet: S,
                promptGuidelines: _,
                sequential: 0 != k && (1 == k || v()),
              });
            },
            4: function (e, t) {
              var r = e,
                n = t,
                s = o.decode(new Uint8Array(a.buffer, r, n));
              m(s);
            },
            5: function (e, t, r, n) {
              var s = e,
                i = t,
                c = o.decode(new Uint8Array(a.buffer, s, i)),
                l = r,
                d = n,
                f = o.decode(new Uint8Array(a.buffer, l, d));
              E({ name: c, description: f });
            },
            6: function (e, t, r, n) {
              var s = e,
                i = t,
                c = o.decode(new Uint8Array(a.buffer, s, i)),
                l = r,
                d = n,
                f = o.decode(new Uint8Array(a.buffer, l, d));
              T({ name: c, description: f });
            },
            7: function (e, t) {
              var r = e,
                n = t,
                s = o.decode(new Uint8Array(a.buffer, r, n));
              A(s);
            },
            8: function (e, t) {
              var r = e,
                n = t,
                s = o.decode(new Uint8Array(a.buffer, r, n));
              x(s);
            },
            9: function (e, t, r) {
              var n = e,
                s = t,
                i = o.decode(new Uint8Array(a.buffer, n, s));
              h(i, 0 != r && (1 == r || v()));
            },
          },
        })),
        (L = t["cabi_post_pi:extension/guest@0.1.0#init"]),
        (G = t["cabi_post_pi:extension/guest@0.1.0#handle-event"]),
        (K = t["cabi_post_pi:extension/guest@0.1.0#execute-tool"]),
        (W = t["cabi_post_pi:extension/guest@0.1.0#resume-command"]),
        (z = t["cabi_post_pi:extension/guest@0.1.0#complete-argument"]),
        (H = t["cabi_post_pi:extension/guest@0.1.0#draw-entry"]),
        (Q = t["pi:extension/guest@0.1.0#init"]),
        (X = t["pi:extension/guest@0.1.0#handle-event"]),
        (Y = t["pi:extension/guest@0.1.0#execute-tool"]),
        (Z = t["pi:extension/guest@0.1.0#resume-tool"]),
        (ee = t["pi:extension/guest@0.1.0#run-command"]),
        (te = t["pi:extension/guest@0.1.0#resume-command"]),
        (re = t["pi:extension/guest@0.1.0#complete-argument"]),
        (ae = t["pi:extension/guest@0.1.0#timer"]),
        (ne = t["pi:extension/guest@0.1.0#draw-tool-call"]),
        (se = t["pi:extension/guest@0.1.0#draw-tool-result"]),
        (ie = t["pi:extension/guest@0.1.0#draw-message"]),
        (oe = t["pi:extension/guest@0.1.0#draw-entry"]));
      const le = {
        completeArgument: function (e, t) {
          var r = d(e, c, a),
            s = l,
            i = d(t, c, a);
          const f = re(r, s, i, l);
          var v = n(a).getInt32(f + 4, !0),
            g = n(a).getInt32(f + 0, !0),
            u = [];
          for (let e = 0; e < v; e++) {
            const t = g + 28 * e;
            var b = n(a).getInt32(t + 0, !0),
              w = n(a).getInt32(t + 4, !0),
              k = o.decode(new Uint8Array(a.buffer, b, w)),
              p = n(a).getInt32(t + 8, !0),
              I = n(a).getInt32(t + 12, !0),
              y = o.decode(new Uint8Array(a.buffer, p, I));
            let r;
            switch (n(a).getUint8(t + 16, !0)) {
              case 0:
                r = void 0;
                break;
              case 1:
                var h = n(a).getInt32(t + 20, !0),
                  m = n(a).getInt32(t + 24, !0);
                r = o.decode(new Uint8Array(a.buffer, h, m));
                break;
              default:
                throw new TypeError("invalid variant discriminant for option");
            }
            u.push({ value: k, label: y, description: r });
          }
          const U = u;
          return (z(f), U);
        },
        drawEntry: function (e, t, r) {
          var s = d(e, c, a),
            i = l,
            f = d(t, c, a);
          const g = oe(s, i, f, l, r ? 1 : 0);
          let u;
          switch (n(a).getUint8(g + 0, !0)) {
            case 0:
              u = void 0;
              break;
            case 1: {
              let e;
              switch (n(a).getUint8(g + 4, !0)) {
                case 0:
                  var b = n(a).getInt32(g + 12, !0),
                    w = n(a).getInt32(g + 8, !0),
                    k = [];
                  for (let e = 0; e < b; e++) {
                    const t = w + 8 * e;
                    var p = n(a).getInt32(t + 4, !0),
                      I = n(a).getInt32(t + 0, !0),
                      y = [];
                    for (let e = 0; e < p; e++) {
                      const t = I + 12 * e;
                      var h = n(a).getInt32(t + 0, !0),
                        m = n(a).getInt32(t + 4, !0),
                        U = o.decode(new Uint8Array(a.buffer, h, m));
                      let r;
                      switch (n(a).getUint8(t + 8, !0)) {
                        case 0:
                          r = "text";
                          break;
                        case 1:
                          r = "accent";
                          break;
                        case 2:
                          r = "muted";
                          break;
                        case 3:
                          r = "dim";
                          break;
                        case 4:
                          r = "success";
                          break;
                        case 5:
                          r = "warning";
                          break;
                        case 6:
                          r = "error";
                          break;
                        case 7:
                          r = "tool-title";
                          break;
                        case 8:
                          r = "tool-output";
                          break;
                        default:
                          throw new TypeError("invalid discriminant specified for Color");
                      }
                      var E = n(a).getUint8(t + 9, !0);
                      y.push({ text: U, color: r, bold: 0 != E && (1 == E || v()) });
                    }
                    k.push(y);
                  }
                  e = { tag: "lines", val: k };
                  break;
                case 1:
                  var A = n(a).getInt32(g + 8, !0),
                    T = n(a).getInt32(g + 12, !0);
                  e = { tag: "markdown", val: o.decode(new Uint8Array(a.buffer, A, T)) };
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for Drawing");
              }
              u = e;
              break;
            }
            default:
              throw new TypeError("invalid variant discriminant for option");
          }
          const x = u;
          return (H(g), x);
        },
        drawMessage: function (e, t) {
          var { customType: r, content: s, display: i } = e,
            f = d(r, c, a),
            g = l,
            u = d(s, c, a);
          const b = ie(f, g, u, l, i ? 1 : 0, t ? 1 : 0);
          let w;
          switch (n(a).getUint8(b + 0, !0)) {
            case 0:
              w = void 0;
              break;
            case 1: {
              let e;
              switch (n(a).getUint8(b + 4, !0)) {
                case 0:
                  var k = n(a).getInt32(b + 12, !0),
                    p = n(a).getInt32(b + 8, !0),
                    I = [];
                  for (let e = 0; e < k; e++) {
                    const t = p + 8 * e;
                    var y = n(a).getInt32(t + 4, !0),
                      h = n(a).getInt32(t + 0, !0),
                      m = [];
                    for (let e = 0; e < y; e++) {
                      const t = h + 12 * e;
                      var U = n(a).getInt32(t + 0, !0),
                        E = n(a).getInt32(t + 4, !0),
                        A = o.decode(new Uint8Array(a.buffer, U, E));
                      let r;
                      switch (n(a).getUint8(t + 8, !0)) {
                        case 0:
                          r = "text";
                          break;
                        case 1:
                          r = "accent";
                          break;
                        case 2:
                          r = "muted";
                          break;
                        case 3:
                          r = "dim";
                          break;
                        case 4:
                          r = "success";
                          break;
                        case 5:
                          r = "warning";
                          break;
                        case 6:
                          r = "error";
                          break;
                        case 7:
                          r = "tool-title";
                          break;
                        case 8:
                          r = "tool-output";
                          break;
                        default:
                          throw new TypeError("invalid discriminant specified for Color");
                      }
                      var T = n(a).getUint8(t + 9, !0);
                      m.push({ text: A, color: r, bold: 0 != T && (1 == T || v()) });
                    }
                    I.push(m);
                  }
                  e = { tag: "lines", val: I };
                  break;
                case 1:
                  var x = n(a).getInt32(b + 8, !0),
                    $ = n(a).getInt32(b + 12, !0);
                  e = { tag: "markdown", val: o.decode(new Uint8Array(a.buffer, x, $)) };
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for Drawing");
              }
              w = e;
              break;
            }
            default:
              throw new TypeError("invalid variant discriminant for option");
          }
          const O = w;
          return (H(b), O);
        },
        drawToolCall: function (e, t, r) {
          var s = d(e, c, a),
            i = l,
            f = d(t, c, a);
          const g = ne(s, i, f, l, r ? 1 : 0);
          let u;
          switch (n(a).getUint8(g + 0, !0)) {
            case 0:
              u = void 0;
              break;
            case 1: {
              let e;
              switch (n(a).getUint8(g + 4, !0)) {
                case 0:
                  var b = n(a).getInt32(g + 12, !0),
                    w = n(a).getInt32(g + 8, !0),
                    k = [];
                  for (let e = 0; e < b; e++) {
                    const t = w + 8 * e;
                    var p = n(a).getInt32(t + 4, !0),
                      I = n(a).getInt32(t + 0, !0),
                      y = [];
                    for (let e = 0; e < p; e++) {
                      const t = I + 12 * e;
                      var h = n(a).getInt32(t + 0, !0),
                        m = n(a).getInt32(t + 4, !0),
                        U = o.decode(new Uint8Array(a.buffer, h, m));
                      let r;
                      switch (n(a).getUint8(t + 8, !0)) {
                        case 0:
                          r = "text";
                          break;
                        case 1:
                          r = "accent";
                          break;
                        case 2:
                          r = "muted";
                          break;
                        case 3:
                          r = "dim";
                          break;
                        case 4:
                          r = "success";
                          break;
                        case 5:
                          r = "warning";
                          break;
                        case 6:
                          r = "error";
                          break;
                        case 7:
                          r = "tool-title";
                          break;
                        case 8:
                          r = "tool-output";
                          break;
                        default:
                          throw new TypeError("invalid discriminant specified for Color");
                      }
                      var E = n(a).getUint8(t + 9, !0);
                      y.push({ text: U, color: r, bold: 0 != E && (1 == E || v()) });
                    }
                    k.push(y);
                  }
                  e = { tag: "lines", val: k };
                  break;
                case 1:
                  var A = n(a).getInt32(g + 8, !0),
                    T = n(a).getInt32(g + 12, !0);
                  e = { tag: "markdown", val: o.decode(new Uint8Array(a.buffer, A, T)) };
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for Drawing");
              }
              u = e;
              break;
            }
            default:
              throw new TypeError("invalid variant discriminant for option");
          }
          const x = u;
          return (H(g), x);
        },
        drawToolResult: function (e, t, r) {
          var s = d(e, c, a),
            i = l,
            { text: f, details: g } = t,
            u = d(f, c, a),
            b = l,
            w = d(g, c, a);
          const k = se(s, i, u, b, w, l, r ? 1 : 0);
          let p;
          switch (n(a).getUint8(k + 0, !0)) {
            case 0:
              p = void 0;
              break;
            case 1: {
              let e;
              switch (n(a).getUint8(k + 4, !0)) {
                case 0:
                  var I = n(a).getInt32(k + 12, !0),
                    y = n(a).getInt32(k + 8, !0),
                    h = [];
                  for (let e = 0; e < I; e++) {
                    const t = y + 8 * e;
                    var m = n(a).getInt32(t + 4, !0),
                      U = n(a).getInt32(t + 0, !0),
                      E = [];
                    for (let e = 0; e < m; e++) {
                      const t = U + 12 * e;
                      var A = n(a).getInt32(t + 0, !0),
                        T = n(a).getInt32(t + 4, !0),
                        x = o.decode(new Uint8Array(a.buffer, A, T));
                      let r;
                      switch (n(a).getUint8(t + 8, !0)) {
                        case 0:
                          r = "text";
                          break;
                        case 1:
                          r = "accent";
                          break;
                        case 2:
                          r = "muted";
                          break;
                        case 3:
                          r = "dim";
                          break;
                        case 4:
                          r = "success";
                          break;
                        case 5:
                          r = "warning";
                          break;
                        case 6:
                          r = "error";
                          break;
                        case 7:
                          r = "tool-title";
                          break;
                        case 8:
                          r = "tool-output";
                          break;
                        default:
                          throw new TypeError("invalid discriminant specified for Color");
                      }
                      var $ = n(a).getUint8(t + 9, !0);
                      E.push({ text: x, color: r, bold: 0 != $ && (1 == $ || v()) });
                    }
                    h.push(E);
                  }
                  e = { tag: "lines", val: h };
                  break;
                case 1:
                  var O = n(a).getInt32(k + 8, !0),
                    N = n(a).getInt32(k + 12, !0);
                  e = { tag: "markdown", val: o.decode(new Uint8Array(a.buffer, O, N)) };
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for Drawing");
              }
              p = e;
              break;
            }
            default:
              throw new TypeError("invalid variant discriminant for option");
          }
          const S = p;
          return (H(k), S);
        },
        executeTool: function (e, t, r) {
          var { unixMs: i, random: f } = e,
            { id: v, name: g, parent: u, carriesCalls: b } = t,
            w = d(v, c, a),
            k = l,
            p = d(g, c, a),
            I = l,
            y = u;
          let h, m, U;
          if (null == y) ((h = 0), (m = 0), (U = 0));
          else {
            ((h = 1), (m = d(y, c, a)), (U = l));
          }
          var E = d(r, c, a),
            A = l;
          const T = Y(s(i), s(f), w, k, p, I, h, m, U, b ? 1 : 0, E, A);
          let x;
          switch (n(a).getUint8(T + 0, !0)) {
            case 0:
              var $ = n(a).getInt32(T + 8, !0),
                O = n(a).getInt32(T + 12, !0),
                N = o.decode(new Uint8Array(a.buffer, $, O)),
                S = n(a).getInt32(T + 16, !0),
                J = n(a).getInt32(T + 20, !0);
              x = { tag: "done", val: { text: N, details: o.decode(new Uint8Array(a.buffer, S, J)) } };
              break;
            case 1: {
              let e;
              switch (n(a).getUint8(T + 16, !0)) {
                case 0:
                  var M = n(a).getInt32(T + 20, !0),
                    B = n(a).getInt32(T + 24, !0),
                    C = o.decode(new Uint8Array(a.buffer, M, B)),
                    _ = n(a).getInt32(T + 28, !0),
                    q = n(a).getInt32(T + 32, !0);
                  e = { tag: "confirm", val: { title: C, message: o.decode(new Uint8Array(a.buffer, _, q)) } };
                  break;
                case 1:
                  var D = n(a).getInt32(T + 20, !0),
                    R = n(a).getInt32(T + 24, !0),
                    j = o.decode(new Uint8Array(a.buffer, D, R)),
                    P = n(a).getInt32(T + 32, !0),
                    F = n(a).getInt32(T + 28, !0),
                    V = [];
                  for (let e = 0; e < P; e++) {
                    const t = F + 8 * e;
                    var L = n(a).getInt32(t + 0, !0),
                      G = n(a).getInt32(t + 4, !0),
                      W = o.decode(new Uint8Array(a.buffer, L, G));
                    V.push(W);
                  }
                  e = { tag: "select", val: { title: j, options: V } };
                  break;
                case 2:
                  var z = n(a).getInt32(T + 20, !0),
                    H = n(a).getInt32(T + 24, !0),
                    Q = o.decode(new Uint8Array(a.buffer, z, H)),
                    X = n(a).getInt32(T + 28, !0),
                    Z = n(a).getInt32(T + 32, !0);
                  e = { tag: "input", val: { title: Q, placeholder: o.decode(new Uint8Array(a.buffer, X, Z)) } };
                  break;
                case 3:
                  var ee = n(a).getInt32(T + 20, !0),
                    te = n(a).getInt32(T + 24, !0),
                    re = o.decode(new Uint8Array(a.buffer, ee, te)),
                    ae = n(a).getInt32(T + 32, !0),
                    ne = n(a).getInt32(T + 36, !0),
                    se = o.decode(new Uint8Array(a.buffer, ae, ne));
                  e = { tag: "exec", val: { line: re, timeoutMs: n(a).getInt32(T + 28, !0) >>> 0, progress: se } };
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for Request");
              }
              x = { tag: "pending", val: { ticket: BigInt.asUintN(64, n(a).getBigInt64(T + 8, !0)), request: e } };
              break;
            }
            default:
              throw new TypeError("invalid variant discriminant for ToolOutcome");
          }
          const ie = x;
          return (K(T), ie);
        },
        handleEvent: function (e, t) {
          var { unixMs: r, random: i } = e,
            f = t;
          let g, u, b, w, k, p, I, y, h;
          switch (f.tag) {
            case "session-start": {
              const e = f.val;
              var m = e;
              let t;
              switch (m) {
                case "startup":
                  t = 0;
                  break;
                case "reload":
                  t = 1;
                  break;
                case "new":
                  t = 2;
                  break;
                case "resume":
                  t = 3;
                  break;
                case "fork":
                  t = 4;
                  break;
                case "quit":
                  t = 5;
                  break;
                case "other":
                  t = 6;
                  break;
                default:
                  throw (
                    e instanceof Error && console.error(e),
                    new TypeError(`"${m}" is not one of the cases of session-reason`)
                  );
              }
              ((g = 0), (u = t), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            }
            case "session-tree":
              ((g = 1), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            case "session-compact":
              ((g = 2), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            case "session-shutdown": {
              const e = f.val;
              var U = e;
              let t;
              switch (U) {
                case "startup":
                  t = 0;
                  break;
                case "reload":
                  t = 1;
                  break;
                case "new":
                  t = 2;
                  break;
                case "resume":
                  t = 3;
                  break;
                case "fork":
                  t = 4;
                  break;
                case "quit":
                  t = 5;
                  break;
                case "other":
                  t = 6;
                  break;
                default:
                  throw (
                    e instanceof Error && console.error(e),
                    new TypeError(`"${U}" is not one of the cases of session-reason`)
                  );
              }
              ((g = 3), (u = t), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            }
            case "input": {
              const e = f.val;
              var E = e;
              let t;
              switch (E) {
                case "interactive":
                  t = 0;
                  break;
                case "rpc":
                  t = 1;
                  break;
                case "extension":
                  t = 2;
                  break;
                case "other":
                  t = 3;
                  break;
                default:
                  throw (
                    e instanceof Error && console.error(e),
                    new TypeError(`"${E}" is not one of the cases of input-source`)
                  );
              }
              ((g = 4), (u = t), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            }
            case "terminal-input":
              ((g = 5), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            case "before-agent-start":
              ((g = 6), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            case "agent-start":
              ((g = 7), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            case "turn-end":
              ((g = 8), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            case "agent-end": {
              var A = f.val;
              let e, t;
              if (null == A) ((e = 0), (t = 0));
              else {
                const r = A;
                var T = r;
                let a;
                switch (T) {
                  case "stop":
                    a = 0;
                    break;
                  case "length":
                    a = 1;
                    break;
                  case "tool-use":
                    a = 2;
                    break;
                  case "error":
                    a = 3;
                    break;
                  case "aborted":
                    a = 4;
                    break;
                  case "other":
                    a = 5;
                    break;
                  default:
                    throw (
                      r instanceof Error && console.error(r),
                      new TypeError(`"${T}" is not one of the cases of stop-reason`)
                    );
                }
                ((e = 1), (t = a));
              }
              ((g = 9), (u = e), (b = t), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            }
            case "agent-before-settle":
              ((g = 10), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            case "agent-settled":
              ((g = 11), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            case "tool-call": {
              const e = f.val;
              var { id: x, name: $, parent: O, carriesCalls: N } = e,
                S = d(x, c, a),
                J = l,
                M = d($, c, a),
                B = l,
                C = O;
              let t, r, n;
              if (null == C) ((t = 0), (r = 0), (n = 0));
              else {
                ((t = 1), (r = d(C, c, a)), (n = l));
              }
              ((g = 12), (u = S), (b = J), (w = M), (k = B), (p = t), (I = r), (y = n), (h = N ? 1 : 0));
              break;
            }
            case "restarted":
              ((g = 13), (u = 0), (b = 0), (w = 0), (k = 0), (p = 0), (I = 0), (y = 0), (h = 0));
              break;
            default:
              throw new TypeError(
                `invalid variant tag value \`${JSON.stringify(f.tag)}\` (received \`${f}\`) specified for \`Event\``,
              );
          }
          const _ = X(s(r), s(i), g, u, b, w, k, p, I, y, h);
          let q;
          switch (n(a).getUint8(_ + 0, !0)) {
            case 0:
              q = { tag: "none" };
              break;
            case 1:
              var D = n(a).getInt32(_ + 4, !0),
                R = n(a).getInt32(_ + 8, !0);
              q = { tag: "block", val: o.decode(new Uint8Array(a.buffer, D, R)) };
              break;
            case 2:
              var j = n(a).getInt32(_ + 4, !0),
                P = n(a).getInt32(_ + 8, !0),
                F = o.decode(new Uint8Array(a.buffer, j, P)),
                V = n(a).getInt32(_ + 12, !0),
                L = n(a).getInt32(_ + 16, !0),
                K = o.decode(new Uint8Array(a.buffer, V, L)),
                W = n(a).getUint8(_ + 20, !0);
              q = { tag: "inject", val: { customType: F, content: K, display: 0 != W && (1 == W || v()) } };
              break;
            case 3:
              var z = n(a).getInt32(_ + 4, !0),
                H = n(a).getInt32(_ + 8, !0),
                Q = o.decode(new Uint8Array(a.buffer, z, H)),
                Y = n(a).getInt32(_ + 12, !0),
                Z = n(a).getInt32(_ + 16, !0),
                ee = o.decode(new Uint8Array(a.buffer, Y, Z)),
                te = n(a).getUint8(_ + 20, !0);
              q = { tag: "continue", val: { customType: Q, content: ee, display: 0 != te && (1 == te || v()) } };
              break;
            default:
              throw new TypeError("invalid variant discriminant for EventOutcome");
          }
          const re = q;
          return (G(_), re);
        },
        init: ce,
        resumeCommand: function (e, t, r) {
          var { unixMs: f, random: v } = e,
            g = r;
          let u, b, w, k, p, I, y, h;
          switch (g.tag) {
            case "confirmed":
              ((u = 0), (b = g.val ? 1 : 0), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "selected":
              ((u = 1), (b = i(g.val)), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "entered":
              ((u = 2), (b = d(g.val, c, a)), (w = l), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "ran": {
              const e = g.val;
              var { end: m, durationMs: U, output: E, outputBytes: A } = e,
                T = m;
              let t, r, n;
              switch (T.tag) {
                case "exited":
                  ((t = 0), (r = i(T.val)), (n = 0));
                  break;
                case "timed-out":
                  ((t = 1), (r = 0), (n = 0));
                  break;
                case "cancelled":
                  ((t = 2), (r = 0), (n = 0));
                  break;
                case "not-started":
                  ((t = 3), (r = d(T.val, c, a)), (n = l));
                  break;
                default:
                  throw new TypeError(
                    `invalid variant tag value \`${JSON.stringify(T.tag)}\` (received \`${T}\`) specified for \`CommandEnd\``,
                  );
              }
              var x = d(E, c, a),
                $ = l;
              ((u = 3), (b = t), (w = r), (k = n), (p = s(U)), (I = x), (y = $), (h = s(A)));
              break;
            }
            case "cancelled":
              ((u = 4), (b = 0), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "no-ui":
              ((u = 5), (b = 0), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "not-granted":
              ((u = 6), (b = 0), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            default:
              throw new TypeError(
                `invalid variant tag value \`${JSON.stringify(g.tag)}\` (received \`${g}\`) specified for \`Answer\``,
              );
          }
          const O = te(s(f), s(v), s(t), u, b, w, k, p, I, y, h);
          let N;
          switch (n(a).getUint8(O + 0, !0)) {
            case 0:
              N = { tag: "done" };
              break;
            case 1:
              N = { tag: "settle" };
              break;
            case 2: {
              let e;
              switch (n(a).getUint8(O + 16, !0)) {
                case 0:
                  var S = n(a).getInt32(O + 20, !0),
                    J = n(a).getInt32(O + 24, !0),
                    M = o.decode(new Uint8Array(a.buffer, S, J)),
                    B = n(a).getInt32(O + 28, !0),
                    C = n(a).getInt32(O + 32, !0);
                  e = { tag: "confirm", val: { title: M, message: o.decode(new Uint8Array(a.buffer, B, C)) } };
                  break;
                case 1:
                  var _ = n(a).getInt32(O + 20, !0),
                    q = n(a).getInt32(O + 24, !0),
                    D = o.decode(new Uint8Array(a.buffer, _, q)),
                    R = n(a).getInt32(O + 32, !0),
                    j = n(a).getInt32(O + 28, !0),
                    P = [];
                  for (let e = 0; e < R; e++) {
                    const t = j + 8 * e;
                    var F = n(a).getInt32(t + 0, !0),
                      V = n(a).getInt32(t + 4, !0),
                      L = o.decode(new Uint8Array(a.buffer, F, V));
                    P.push(L);
                  }
                  e = { tag: "select", val: { title: D, options: P } };
                  break;
                case 2:
                  var G = n(a).getInt32(O + 20, !0),
                    K = n(a).getInt32(O + 24, !0),
                    z = o.decode(new Uint8Array(a.buffer, G, K)),
                    H = n(a).getInt32(O + 28, !0),
                    Q = n(a).getInt32(O + 32, !0);
                  e = { tag: "input", val: { title: z, placeholder: o.decode(new Uint8Array(a.buffer, H, Q)) } };
                  break;
                case 3:
                  var X = n(a).getInt32(O + 20, !0),
                    Y = n(a).getInt32(O + 24, !0),
                    Z = o.decode(new Uint8Array(a.buffer, X, Y)),
                    ee = n(a).getInt32(O + 32, !0),
                    re = n(a).getInt32(O + 36, !0),
                    ae = o.decode(new Uint8Array(a.buffer, ee, re));
                  e = { tag: "exec", val: { line: Z, timeoutMs: n(a).getInt32(O + 28, !0) >>> 0, progress: ae } };
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for Request");
              }
              N = { tag: "pending", val: { ticket: BigInt.asUintN(64, n(a).getBigInt64(O + 8, !0)), request: e } };
              break;
            }
            default:
              throw new TypeError("invalid variant discriminant for CommandOutcome");
          }
          const ne = N;
          return (W(O), ne);
        },
        resumeTool: function (e, t, r) {
          var { unixMs: f, random: v } = e,
            g = r;
          let u, b, w, k, p, I, y, h;
          switch (g.tag) {
            case "confirmed":
              ((u = 0), (b = g.val ? 1 : 0), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "selected":
              ((u = 1), (b = i(g.val)), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "entered":
              ((u = 2), (b = d(g.val, c, a)), (w = l), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "ran": {
              const e = g.val;
              var { end: m, durationMs: U, output: E, outputBytes: A } = e,
                T = m;
              let t, r, n;
              switch (T.tag) {
                case "exited":
                  ((t = 0), (r = i(T.val)), (n = 0));
                  break;
                case "timed-out":
                  ((t = 1), (r = 0), (n = 0));
                  break;
                case "cancelled":
                  ((t = 2), (r = 0), (n = 0));
                  break;
                case "not-started":
                  ((t = 3), (r = d(T.val, c, a)), (n = l));
                  break;
                default:
                  throw new TypeError(
                    `invalid variant tag value \`${JSON.stringify(T.tag)}\` (received \`${T}\`) specified for \`CommandEnd\``,
                  );
              }
              var x = d(E, c, a),
                $ = l;
              ((u = 3), (b = t), (w = r), (k = n), (p = s(U)), (I = x), (y = $), (h = s(A)));
              break;
            }
            case "cancelled":
              ((u = 4), (b = 0), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "no-ui":
              ((u = 5), (b = 0), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            case "not-granted":
              ((u = 6), (b = 0), (w = 0), (k = 0), (p = 0n), (I = 0), (y = 0), (h = 0n));
              break;
            default:
              throw new TypeError(
                `invalid variant tag value \`${JSON.stringify(g.tag)}\` (received \`${g}\`) specified for \`Answer\``,
              );
          }
          const O = Z(s(f), s(v), s(t), u, b, w, k, p, I, y, h);
          let N;
          switch (n(a).getUint8(O + 0, !0)) {
            case 0:
              var S = n(a).getInt32(O + 8, !0),
                J = n(a).getInt32(O + 12, !0),
                M = o.decode(new Uint8Array(a.buffer, S, J)),
                B = n(a).getInt32(O + 16, !0),
                C = n(a).getInt32(O + 20, !0);
              N = { tag: "done", val: { text: M, details: o.decode(new Uint8Array(a.buffer, B, C)) } };
              break;
            case 1: {
              let e;
              switch (n(a).getUint8(O + 16, !0)) {
                case 0:
                  var _ = n(a).getInt32(O + 20, !0),
                    q = n(a).getInt32(O + 24, !0),
                    D = o.decode(new Uint8Array(a.buffer, _, q)),
                    R = n(a).getInt32(O + 28, !0),
                    j = n(a).getInt32(O + 32, !0);
                  e = { tag: "confirm", val: { title: D, message: o.decode(new Uint8Array(a.buffer, R, j)) } };
                  break;
                case 1:
                  var P = n(a).getInt32(O + 20, !0),
                    F = n(a).getInt32(O + 24, !0),
                    V = o.decode(new Uint8Array(a.buffer, P, F)),
                    L = n(a).getInt32(O + 32, !0),
                    G = n(a).getInt32(O + 28, !0),
                    W = [];
                  for (let e = 0; e < L; e++) {
                    const t = G + 8 * e;
                    var z = n(a).getInt32(t + 0, !0),
                      H = n(a).getInt32(t + 4, !0),
                      Q = o.decode(new Uint8Array(a.buffer, z, H));
                    W.push(Q);
                  }
                  e = { tag: "select", val: { title: V, options: W } };
                  break;
                case 2:
                  var X = n(a).getInt32(O + 20, !0),
                    Y = n(a).getInt32(O + 24, !0),
                    ee = o.decode(new Uint8Array(a.buffer, X, Y)),
                    te = n(a).getInt32(O + 28, !0),
                    re = n(a).getInt32(O + 32, !0);
                  e = { tag: "input", val: { title: ee, placeholder: o.decode(new Uint8Array(a.buffer, te, re)) } };
                  break;
                case 3:
                  var ae = n(a).getInt32(O + 20, !0),
                    ne = n(a).getInt32(O + 24, !0),
                    se = o.decode(new Uint8Array(a.buffer, ae, ne)),
                    ie = n(a).getInt32(O + 32, !0),
                    oe = n(a).getInt32(O + 36, !0),
                    ce = o.decode(new Uint8Array(a.buffer, ie, oe));
                  e = { tag: "exec", val: { line: se, timeoutMs: n(a).getInt32(O + 28, !0) >>> 0, progress: ce } };
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for Request");
              }
              N = { tag: "pending", val: { ticket: BigInt.asUintN(64, n(a).getBigInt64(O + 8, !0)), request: e } };
              break;
            }
            default:
              throw new TypeError("invalid variant discriminant for ToolOutcome");
          }
          const le = N;
          return (K(O), le);
        },
        runCommand: function (e, t, r) {
          var { unixMs: i, random: f } = e,
            v = d(t, c, a),
            g = l,
            u = d(r, c, a),
            b = l;
          const w = ee(s(i), s(f), v, g, u, b);
          let k;
          switch (n(a).getUint8(w + 0, !0)) {
            case 0:
              k = { tag: "done" };
              break;
            case 1:
              k = { tag: "settle" };
              break;
            case 2: {
              let e;
              switch (n(a).getUint8(w + 16, !0)) {
                case 0:
                  var p = n(a).getInt32(w + 20, !0),
                    I = n(a).getInt32(w + 24, !0),
                    y = o.decode(new Uint8Array(a.buffer, p, I)),
                    h = n(a).getInt32(w + 28, !0),
                    m = n(a).getInt32(w + 32, !0);
                  e = { tag: "confirm", val: { title: y, message: o.decode(new Uint8Array(a.buffer, h, m)) } };
                  break;
                case 1:
                  var U = n(a).getInt32(w + 20, !0),
                    E = n(a).getInt32(w + 24, !0),
                    A = o.decode(new Uint8Array(a.buffer, U, E)),
                    T = n(a).getInt32(w + 32, !0),
                    x = n(a).getInt32(w + 28, !0),
                    $ = [];
                  for (let e = 0; e < T; e++) {
                    const t = x + 8 * e;
                    var O = n(a).getInt32(t + 0, !0),
                      N = n(a).getInt32(t + 4, !0),
                      S = o.decode(new Uint8Array(a.buffer, O, N));
                    $.push(S);
                  }
                  e = { tag: "select", val: { title: A, options: $ } };
                  break;
                case 2:
                  var J = n(a).getInt32(w + 20, !0),
                    M = n(a).getInt32(w + 24, !0),
                    B = o.decode(new Uint8Array(a.buffer, J, M)),
                    C = n(a).getInt32(w + 28, !0),
                    _ = n(a).getInt32(w + 32, !0);
                  e = { tag: "input", val: { title: B, placeholder: o.decode(new Uint8Array(a.buffer, C, _)) } };
                  break;
                case 3:
                  var q = n(a).getInt32(w + 20, !0),
                    D = n(a).getInt32(w + 24, !0),
                    R = o.decode(new Uint8Array(a.buffer, q, D)),
                    j = n(a).getInt32(w + 32, !0),
                    P = n(a).getInt32(w + 36, !0),
                    F = o.decode(new Uint8Array(a.buffer, j, P));
                  e = { tag: "exec", val: { line: R, timeoutMs: n(a).getInt32(w + 28, !0) >>> 0, progress: F } };
                  break;
                default:
                  throw new TypeError("invalid variant discriminant for Request");
              }
              k = { tag: "pending", val: { ticket: BigInt.asUintN(64, n(a).getBigInt64(w + 8, !0)), request: e } };
              break;
            }
            default:
              throw new TypeError("invalid variant discriminant for CommandOutcome");
          }
          const V = k;
          return (W(w), V);
        },
        timer: function (e, t) {
          var { unixMs: r, random: a } = e;
          ae(s(r), s(a), s(t));
        },
      };
      return { guest: le, "pi:extension/guest@0.1.0": le };
    })();
  const z = (function e(t) {
    try {
      let r;
      do {
        ({ value: t, done: r } = W.next(t));
      } while (!(t instanceof Promise || r));
      if (r) return G ? G(t) : t;
      (L || (L = new Promise((e, t) => ((G = e), (K = t)))), t.then((t) => (r ? G() : e(t)), K));
    } catch (e) {
      if (!K) throw e;
      K(e);
    }
  })(null);
  return L || z;
}
