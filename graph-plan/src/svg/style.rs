//! The colours and fonts of drawings.

/// The style sheet: light or dark as the reader's system asks, or as the page around it says by `data-theme`, as the
/// pages of rustdoc do.
pub(super) const STYLE: &str = "\
svg.cuda-graph{--paper:#fff;--ink:#1f2328;--soft:#59636e;--line:#8c959f;--box:#f6f8fa;--body:#8c959f14;--heat:#e5534b;
--kernel:#1a7f37;--copy:#0969da;--control:#9a6700;--library:#8250df;--collective:#bf3989;--host:#57606a;
font-family:'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace;max-width:100%;height:auto}
@media(prefers-color-scheme:dark){svg.cuda-graph{--paper:#0d1117;--ink:#e6edf3;--soft:#9198a1;--line:#656c76;--box:#161b22;
--body:#8c959f1a;--heat:#da3633;--kernel:#3fb950;--copy:#58a6ff;--control:#d29922;--library:#bc8cff;--collective:#f778ba;
--host:#8b949e}}
[data-theme=light] svg.cuda-graph{--paper:#fff;--ink:#1f2328;--soft:#59636e;--line:#8c959f;--box:#f6f8fa;--body:#8c959f14;
--heat:#e5534b;--kernel:#1a7f37;--copy:#0969da;--control:#9a6700;--library:#8250df;--collective:#bf3989;--host:#57606a}
[data-theme=dark] svg.cuda-graph,[data-theme=ayu] svg.cuda-graph{--paper:#0d1117;--ink:#e6edf3;--soft:#9198a1;
--line:#656c76;--box:#161b22;--body:#8c959f1a;--heat:#da3633;--kernel:#3fb950;--copy:#58a6ff;--control:#d29922;
--library:#bc8cff;--collective:#f778ba;--host:#8b949e}
.cuda-graph .paper{fill:var(--paper)}
.cuda-graph text{fill:var(--ink);font-size:11px}
.cuda-graph text.title{font-size:16px;font-weight:600}
.cuda-graph text.name{font-size:13px;font-weight:600}
.cuda-graph text.kind,.cuda-graph text.memory,.cuda-graph text.axis,.cuda-graph text.group{fill:var(--soft)}
.cuda-graph text.label{font-size:10px;text-anchor:middle;paint-order:stroke;stroke:var(--paper);stroke-width:4px;
stroke-linejoin:round}
.cuda-graph text.group{paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.cuda-graph .box{fill:var(--box);stroke:var(--line)}
.cuda-graph .body{fill:var(--body);stroke:var(--line);stroke-dasharray:4 3}
.cuda-graph .loop{fill:var(--body);stroke:var(--control)}
.cuda-graph .heat{fill:var(--heat)}
.cuda-graph .stripe{fill:var(--host);stroke:none}
.cuda-graph .kernel>.stripe{fill:var(--kernel)}
.cuda-graph .copy>.stripe{fill:var(--copy)}
.cuda-graph .control>.stripe{fill:var(--control)}
.cuda-graph .library>.stripe{fill:var(--library)}
.cuda-graph .collective>.stripe{fill:var(--collective)}
.cuda-graph .line{fill:none;stroke:var(--line);stroke-width:1.3}
.cuda-graph .head{fill:var(--line)}
.cuda-graph .programmatic .line{stroke-dasharray:5 3;stroke:var(--kernel)}
.cuda-graph .programmatic .head{fill:var(--kernel)}
.cuda-graph .edge:hover .line{stroke:var(--ink);stroke-width:2.4}
.cuda-graph .edge:hover .head{fill:var(--ink)}
.cuda-graph .lane{fill:var(--copy);fill-opacity:.18;stroke:var(--copy)}
";
